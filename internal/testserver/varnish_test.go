package testserver

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestVarnish runs Varnish in front of another server.
func TestVarnish(t *testing.T) {
	dir := OpenFolder(t)
	if err := os.WriteFile(filepath.Join(dir, "page.txt"), []byte("a page"), 0o644); err != nil {
		t.Fatal(err)
	}
	origin := StartNginx(t, dir)
	backend := fmt.Sprintf("backend origin { .host = \"127.0.0.1\"; .port = \"%d\"; }", origin.Port())
	s := StartVarnish(t, OpenFolder(t), backend)
	response, err := http.Get("http://" + s.Addr() + "/page.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if string(text) != "a page" || err != nil || response.Header.Get("X-Varnish") == "" {
		t.Errorf("%q, %v, %q", text, err, response.Header)
	}
}
