//go:build e2e

package names

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// curl runs curl through a proxy, and returns the header sections of all responses.
func curl(t *testing.T, proxy string, arguments ...string) (header string) {
	t.Helper()
	arguments = append([]string{"-q", "-sS", "--noproxy", "", "--proxy", proxy, "-D", "header", "-o", "body"},
		arguments...)
	command := exec.CommandContext(t.Context(), testserver.Need(t, "curl"), arguments...)
	command.Dir = t.TempDir()
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("curl %q: %v\n%s", arguments, err, text)
	}
	return urndtest.ReadFile(t, filepath.Join(command.Dir, "header"))
}

// TestSpellingsByCurl checks that unencoded requests of curl reach nginx in the spelling selected by
// proxy.spelling and the setting of the site, and that the cache key is what was sent: RFC 9110 sections 4.2.3
// and 7.7.
func TestSpellingsByCurl(t *testing.T) {
	t.Parallel()
	testserver.Need(t, "curl")
	nginx := testserver.StartNginx(t, testserver.OpenFolder(t),
		`location / { add_header Cache-Control max-age=60 always; add_header X-Target "$request_uri" always; return 200 "sent\n"; }`)
	for _, spelling := range []string{"normal", "exact"} {
		t.Run(spelling, func(t *testing.T) {
			t.Parallel()
			testSpelling(t, nginx, spelling)
		})
	}
}

// testSpelling checks the requests to nginx, and the cache keys, with a value of proxy.spelling.
func testSpelling(t *testing.T, nginx *testserver.WebServer, spelling string) {
	t.Helper()
	urnd := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Access.PurgeClients = c.Access.AllowDestinations
		c.Proxy.Spelling = spelling
		servers := []string{"http://" + nginx.Addr()}
		c.Proxy.Sites = []config.Site{
			{Hosts: []string{"exact.example"}, Servers: servers},
			{Hosts: []string{"normal.example"}, Servers: servers, Spelling: "normal"},
		}
	})
	get := func(arguments ...string) (target string, hit bool) {
		t.Helper()
		header := curl(t, urnd.URL, append([]string{"-g", "--path-as-is"}, arguments...)...)
		if found := regexp.MustCompile(`\r\nX-Target: (.*)\r\n`).FindStringSubmatch(header); found != nil {
			target = found[1]
		}
		return target, strings.Contains(header, "Cache-Status: urnd; hit")
	}
	for _, tt := range []struct{ raw, normal string }{
		{"/?a[]=1", "/?a%5B%5D=1"},
		{"/?family=A|B&c=100%", "/?family=A%7CB&c=100%25"},
		{"/x/{x}^`\"", "/x/%7Bx%7D%5E%60%22"}, // curl itself encodes non-ASCII bytes
		{"/a/../%7eb", "/~b"},
		{"/a/./b//c", "/a/b//c"},
	} {
		for _, form := range []struct {
			name   string
			normal bool
			get    func(target string) (string, bool)
		}{
			{
				"forward", spelling == "normal",
				func(target string) (string, bool) { return get("http://" + nginx.Addr() + target) },
			},
			{"exact.example", false, func(target string) (string, bool) {
				return get("--proxy", "", "-H", "Host: exact.example", urnd.URL+target)
			}},
			{"normal.example", true, func(target string) (string, bool) {
				return get("--proxy", "", "-H", "Host: normal.example", urnd.URL+target)
			}},
		} {
			want := tt.raw
			if form.normal {
				want = tt.normal
			}
			testserver.Wait(t, "what was sent is stored", func() bool {
				got, hit := form.get(tt.raw)
				if got != want {
					t.Fatalf("%s, %s: %q is sent as %q", spelling, form.name, tt.raw, got)
				}
				return hit
			})
			if got, _ := form.get(tt.normal); got != tt.normal {
				t.Errorf("%s, %s: %q is answered by that of %q", spelling, form.name, tt.normal, got)
			}
			if form.name == "exact.example" { // a purge applies to all spellings
				curl(t, urnd.URL, "-g", "-X", "PURGE", "--proxy", "", "-H", "Host: exact.example", urnd.URL+tt.normal)
				if _, hit := form.get(tt.raw); hit {
					t.Errorf("%q was not purged", tt.raw)
				}
			}
		}
	}
	// nginx itself rejects such a path in this spelling.
	if got, _ := get("http://" + nginx.Addr() + "/100%"); got != map[string]string{"normal": "/100%25"}[spelling] {
		t.Errorf("%s: /100%% is sent as %q", spelling, got)
	}
}
