package testserver

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// webStarts returns the start functions of the web servers.
func webStarts() map[string]func(testing.TB, string, ...string) *WebServer {
	return map[string]func(testing.TB, string, ...string) *WebServer{"nginx": StartNginx, "Apache": StartApache}
}

func TestWebServers(t *testing.T) {
	for name, start := range webStarts() {
		t.Run(name, func(t *testing.T) {
			dir := OpenFolder(t)
			if err := os.WriteFile(filepath.Join(dir, "page.html"), []byte("a page"), 0o644); err != nil {
				t.Fatal(err)
			}
			s, other := start(t, dir, "# no more"), start(t, OpenFolder(t))
			if s.Port() == other.Port() {
				t.Errorf("both have port %d", s.Port())
			}
			response, err := http.Get("http://" + s.Addr() + "/page.html?a=b")
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			if software := response.Header.Get("Server"); string(text) != "a page" || err != nil ||
				!strings.HasPrefix(software, name) {
				t.Errorf("%q from %s, %v", text, software, err)
			}
			Wait(t, "the request is logged", func() bool { return len(s.Log(t)) > 0 })
			if got, want := s.Log(t), []string{"GET /page.html?a=b 200"}; !slices.Equal(got, want) {
				t.Errorf("log: %q", got)
			}
			if got := other.Log(t); len(got) > 0 {
				t.Errorf("log of the other server: %q", got)
			}
		})
	}
}

// TestWebServerDoesNotStart checks that an invalid configuration is reported with the message of the server,
// and a port in use as such.
func TestWebServerDoesNotStart(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	path := Need(t, "nginx")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().(*net.TCPAddr).AddrPort()
	for line, wrong := range map[string]bool{"": false, "nonsense;": true} {
		dir := OpenFolder(t)
		_, err := launchWebServer(dir, addr, nginxProgram(path, dir, "", []string{line}))
		if err == nil || wrong != strings.Contains(err.Error(), "nonsense") || wrong == errors.Is(err, errPortTaken) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
