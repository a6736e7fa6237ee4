package proxy_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/proxy"
)

// hashed returns the line of a user, as htpasswd -B writes it.
func hashed(t testing.TB, name, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return name + ":" + strings.Replace(string(hash), "$2a$", "$2y$", 1) + "\n"
}

func users(t testing.TB, lines ...string) *proxy.Users {
	t.Helper()
	u, err := proxy.ParseUsers([]byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUsers(t *testing.T) {
	u := users(t, "# those of the house\n", "\n", hashed(t, "alice", "secret: 1"), "  \t\n",
		strings.TrimSuffix(hashed(t, "bob", "ünïcode"), "\n")+" \r\n", "#"+hashed(t, "carol", "c"), hashed(t, "dave", ""), hashed(t, "erin", "old"), hashed(t, "erin", "new"))
	for _, tt := range []struct {
		name, password string
		right          bool
	}{
		{"alice", "secret: 1", true},
		{"alice", "secret: 1", true}, // by now it is remembered
		{"bob", "secret: 1", false},
		{"mallory", "secret: 1", false},
		{"", "secret: 1", false},
		{"alice", "", false},
		{"alice", "secret: 2", false},
		{"alice", "secret: 2", false},
		{"Alice", "secret: 1", false},
		{"alice\x00", "secret: 1", false},
		{"bob", "ünïcode", true},
		{"carol", "c", false},
		{"#carol", "c", false},
		{"# those of the house", "", false},
		{"dave", "", true},
		{"mallory", "", false},
		{"erin", "new", true},
		{"erin", "old", false},
	} {
		if got := u.Check(tt.name, tt.password); got != tt.right {
			t.Errorf("%q with %q: %v", tt.name, tt.password, got)
		}
	}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if !u.Check("alice", "secret: 1") || u.Check("bob", "secret: 1") {
				t.Error("it depends on who else asks")
			}
		})
	}
	clients.Wait()
	if users(t).Check("", "") || users(t, "# nobody\n").Check("nobody", "") {
		t.Error("a file without users has one")
	}
}

func TestUsersFaults(t *testing.T) {
	good := hashed(t, "alice", "a")
	for text, says := range map[string]string{
		"alice":                             "line 1 is not a user",
		":" + good:                          "line 1 is not a user",
		good + "\n# b\nbob":                 "line 4 is not a user",
		"bob:plain":                         `line 1: the hash of "bob"`,
		good + "bob:$apr1$a$b":              `line 2: the hash of "bob"`,
		good + good + "bob:{SHA}a":          `line 3: the hash of "bob"`,
		"bob:":                              `line 1: the hash of "bob"`,
		"bob:$2y$05$tooshort":               `line 1: the hash of "bob"`,
		strings.TrimSpace(good)[:40] + "\n": `line 1: the hash of "alice"`,
		good + strings.Repeat("a", 1<<17):   "reading users",
	} {
		if u, err := proxy.ParseUsers([]byte(text)); u != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q: %v", text, err)
		} else if _, hash, _ := strings.Cut(good, ":"); strings.Contains(err.Error(), hash[:30]) {
			t.Errorf("%.80q: the error shows a hash: %v", text, err)
		}
	}
}

func basic(userinfo string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo))
}

// The forward proxy asks for a password by 407, and requests to urnd as an origin by 401
// (RFC 9110 sections 11.6 and 11.7); names need none.
func TestLogin(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q %q", r.Header["Proxy-Authorization"], r.Header["Authorization"])
	}))
	t.Cleanup(origin.Close)
	s := start(t, func(c *proxy.Config) { c.Access.Users = users(t, hashed(t, "alice", "a:b"), hashed(t, "bob", "b")) })
	s.next = withLocations(origin.URL + "/")
	const scheme = "Basic"
	forward := []string{origin.URL + "/", "http://a.invalid/", "ftp://a.example/"}
	own := []string{"/http://a.example/", "/?uri=http://a.example/", "/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a", "/api/v1/resolve?uri=http://a.example/", "mailto:a@a.example"}
	for _, wrong := range []string{
		"", scheme, scheme + " ", scheme + " !", basic("alice"), basic("alice:b"), basic("bob:a:b"), basic("mallory:a:b"), basic(":"), basic("alice:a:b") + "x",
		"Bearer " + strings.TrimPrefix(basic("alice:a:b"), scheme+" "), `Digest username="alice"`,
	} {
		for _, target := range forward {
			response := s.get(t, target, "Proxy-Authorization: "+wrong, "Authorization: "+basic("alice:a:b"))
			if response.StatusCode != 407 || !strings.HasPrefix(response.Header.Get("Proxy-Authenticate"), `Basic realm="`) ||
				response.Header.Get("WWW-Authenticate") != "" || !strings.Contains(text(t, response), "access.proxy_users") {
				t.Errorf("%s with %q: %d %v", target, wrong, response.StatusCode, response.Header)
			}
		}
		for _, target := range own {
			response := s.get(t, target, "Authorization: "+wrong, "Proxy-Authorization: "+basic("alice:a:b"))
			if response.StatusCode != 401 || !strings.HasPrefix(response.Header.Get("WWW-Authenticate"), `Basic realm="`) ||
				response.Header.Get("Proxy-Authenticate") != "" || !strings.Contains(text(t, response), "access.proxy_users") {
				t.Errorf("%s with %q: %d %v", target, wrong, response.StatusCode, response.Header)
			}
		}
	}
	right := basic("alice:a:b")
	for _, authorization := range []string{right, strings.Replace(right, scheme, "bAsIc", 1), basic("bob:b")} {
		if got := text(t, s.get(t, origin.URL+"/", "Proxy-Authorization: "+authorization, "Authorization: for the origin")); got != `[] ["for the origin"]` {
			t.Errorf("with %q the origin sees %s", authorization, got)
		}
		for _, target := range own {
			if response := s.get(t, target, "Authorization: "+authorization); response.StatusCode >= 400 {
				t.Errorf("%s with %q: %d", target, authorization, response.StatusCode)
			}
		}
		if got := text(t, s.get(t, "/uri-res/N2R?urn:example:a", "Authorization: "+authorization, "Proxy-Authorization: "+authorization)); got != "[] []" {
			t.Errorf("what is fetched for a client shows its password: %s", got)
		}
	}
	for target, status := range map[string]int{"/urn:example:a": 302, "/uri-res/N2L?urn:example:a": 303, "/": 200, "/api/v1/resolve?uri=urn:example:a": 200} {
		if got := s.get(t, target, "Authorization: "+basic("mallory:m")).StatusCode; got != status {
			t.Errorf("%s: %d", target, got)
		}
	}
}

// A client that may not use the proxy is not asked for a password, and a right one is refused.
func TestLoginFromElsewhere(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Access.Users, c.Access.Proxy = users(t, hashed(t, "alice", "a")), prefixes("192.0.2.0/24")
	})
	for _, target := range []string{"http://a.example/", "/http://a.example/", "/uri-res/N2R?urn:example:a"} {
		for _, authorization := range []string{basic("alice:a"), ""} {
			response := s.get(t, target, "Authorization: "+authorization, "Proxy-Authorization: "+authorization)
			if response.StatusCode != 403 || response.Header.Get("WWW-Authenticate")+response.Header.Get("Proxy-Authenticate") != "" {
				t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
			}
		}
	}
}
