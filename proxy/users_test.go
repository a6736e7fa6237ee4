package proxy_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/resolver"
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

func users(t testing.TB, lines ...string) *gate.Users {
	t.Helper()
	u, err := gate.ParseUsers([]byte(strings.Join(lines, "")))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestUsers(t *testing.T) {
	u := users(t, "# those of the house\n", "\n", hashed(t, "alice", "secret: 1"), "  \t\n",
		strings.TrimSuffix(hashed(t, "bob", "ünïcode"), "\n")+" \r\n", "#"+hashed(t, "carol", "c"), hashed(t, "dave", ""), hashed(t, "erin", "old"),
		hashed(t, "erin", "new"))
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
		if got, err := u.Check(t.Context(), tt.name, tt.password); got != tt.right || err != nil {
			t.Errorf("%q with %q: %v", tt.name, tt.password, got)
		}
	}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			alice, first := u.Check(t.Context(), "alice", "secret: 1")
			bob, second := u.Check(t.Context(), "bob", "secret: 1")
			if !alice || bob || first != nil || second != nil {
				t.Error("it depends on who else asks")
			}
		})
	}
	clients.Wait()
	for _, none := range []*gate.Users{users(t), users(t, "# nobody\n")} {
		if right, err := none.Check(t.Context(), "nobody", ""); right || err != nil {
			t.Errorf("a file without users has one: %v", err)
		}
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
		if u, err := gate.ParseUsers([]byte(text)); u != nil || err == nil || !strings.Contains(err.Error(), says) {
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
	s := start(t, func(c *proxy.Config) {
		var clock testClock
		c.Now = func() time.Time { clock.advance(time.Minute); return clock.now() } // no guess comes too soon
		c.Access.Users = users(t, hashed(t, "alice", "a:b"), hashed(t, "bob", "b"))
	})
	s.next = withLocations(origin.URL + "/")
	const scheme = "Basic"
	forward := []string{origin.URL + "/", "http://a.invalid/", "ftp://a.example/"}
	own := []string{
		"/http://a.example/", "/?uri=http://a.example/", "/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a",
		"/api/v1/resolve?uri=http://a.example/", "/fetch?uri=" + origin.URL + "/",
	}
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

// testClock is a clock that a test advances.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) now() time.Time          { return time.Unix(1_800_000_000, c.nanoseconds.Load()) }
func (c *testClock) advance(d time.Duration) { c.nanoseconds.Add(int64(d)) }

// Guesses of one client are not even looked at for a second, those of others are; and the password of a
// user who has logged in there is, but guesses of it are limited, too.
func TestGuesses(t *testing.T) {
	var clock testClock
	var h http.Handler
	start(t, func(c *proxy.Config) {
		c.Now = clock.now
		c.Access.Users = users(t, hashed(t, "alice", "right"), hashed(t, "bob", "right"))
		c.Access.Proxy = prefixes("127.0.0.0/8")
		h = proxy.New(*c)
	})
	ask := func(client, user, password string) int {
		r := httptest.NewRequest(http.MethodGet, "/http://a.example/", nil)
		r.RemoteAddr, r.Host = client+":1", "a"
		r.SetBasicAuth(user, password)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	expect := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	expect("the right password", ask("127.0.0.1", "alice", "right"), 302)
	for range 10 {
		expect("a guess", ask("127.0.0.1", "mallory", "wrong"), 401)
	}
	expect("one more", ask("127.0.0.1", "mallory", "wrong"), 429)
	expect("the right one, too", ask("127.0.0.1", "bob", "right"), 429)
	expect("one that is known", ask("127.0.0.1", "alice", "right"), 302)
	for i := range 11 { // of a user who has logged in there: limited all the same
		status := 401
		if i == 10 {
			status = 429
		}
		expect("a guess of a user who is known", ask("127.0.0.1", "alice", fmt.Sprint(i)), status)
	}
	expect("her password by then", ask("127.0.0.1", "alice", "right"), 429)
	expect("another client", ask("127.0.0.2", "bob", "wrong"), 401)
	clock.advance(time.Second)
	expect("a second later", ask("127.0.0.1", "bob", "wrong"), 401)
	expect("and again", ask("127.0.0.1", "bob", "right"), 429)
}

// Guesses that are compared at the same time are no more than those one after the other.
func TestGuessesInFlight(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.DefaultCost)
	if err != nil {
		t.Fatal(err)
	}
	var clock testClock
	var h http.Handler
	start(t, func(c *proxy.Config) {
		c.Now, c.Access.Users, c.Access.Proxy = clock.now, users(t, "alice:"+string(hash)), prefixes("127.0.0.0/8")
		h = proxy.New(*c)
	})
	var told atomic.Int32
	var guesses sync.WaitGroup
	for i := range 16 { // so many may wait
		guesses.Go(func() {
			r := httptest.NewRequest(http.MethodGet, "/http://a.example/", nil)
			r.RemoteAddr, r.Host = "127.0.0.1:1", "a"
			r.SetBasicAuth("alice", fmt.Sprint(i))
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code == http.StatusUnauthorized {
				told.Add(1)
			}
		})
	}
	if guesses.Wait(); told.Load() != 10 {
		t.Errorf("%d guesses at the same time are answered", told.Load())
	}
}

// Few passwords are compared at a time, and few wait: the rest is refused at once.
func TestPasswordsAtATime(t *testing.T) {
	u := users(t, hashed(t, "alice", "right"))
	var refused, checked atomic.Int32
	var clients sync.WaitGroup
	for i := range 200 {
		clients.Go(func() {
			right, err := u.Check(t.Context(), fmt.Sprint("nobody", i), "wrong")
			switch {
			case errors.Is(err, resolver.ErrBusy):
				refused.Add(1)
			case err == nil && !right:
				checked.Add(1)
			default:
				t.Errorf("%t, %v", right, err)
			}
		})
	}
	clients.Wait()
	if checked.Load() == 0 || refused.Load()+checked.Load() != 200 {
		t.Errorf("%d were checked, and %d refused", checked.Load(), refused.Load())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // the slot may be free
		if _, err := u.Check(ctx, "alice", "wrong"); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has left: %v", err)
		}
	}
}
