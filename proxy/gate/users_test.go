package gate_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
)

// hashed returns the line of a user, as written by htpasswd -B.
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
		strings.TrimSuffix(hashed(t, "bob", "ünïcode"), "\n")+" \r\n", "#"+hashed(t, "carol", "c"),
		hashed(t, "dave", ""), hashed(t, "erin", "old"),
		hashed(t, "erin", "new"))
	for _, tt := range []struct {
		name, password string
		right          bool
	}{
		{"alice", "secret: 1", true},
		{"alice", "secret: 1", true}, // remembered by now
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
		if got, err := u.Check(t.Context(), netip.Addr{}, tt.name, tt.password); got != tt.right || err != nil {
			t.Errorf("%q with %q: %v", tt.name, tt.password, got)
		}
	}
	// One of them is that of the compared hash.
	for _, password := range []string{"secret: 1", "ünïcode", "", "old", "new"} {
		if right, err := u.Check(t.Context(), netip.Addr{}, "mallory", password); right || err != nil {
			t.Errorf("an unknown user with %q: %v, %v", password, right, err)
		}
	}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			alice, first := u.Check(t.Context(), netip.Addr{}, "alice", "secret: 1")
			bob, second := u.Check(t.Context(), netip.Addr{}, "bob", "secret: 1")
			if !alice || bob || first != nil || second != nil {
				t.Error("it depends on other requests")
			}
		})
	}
	clients.Wait()
}

func TestUsersErrors(t *testing.T) {
	good := hashed(t, "alice", "a")
	for text, message := range map[string]string{
		"alice":                             "line 1: not a user",
		":" + good:                          "line 1: not a user",
		good + "\n# b\nbob":                 "line 4: not a user",
		"bob:plain":                         `line 1: the hash of user "bob"`,
		good + "bob:$apr1$a$b":              `line 2: the hash of user "bob"`,
		good + good + "bob:{SHA}a":          `line 3: the hash of user "bob"`,
		"bob:":                              `line 1: the hash of user "bob"`,
		"bob:$2y$05$tooshort":               `line 1: the hash of user "bob"`,
		strings.TrimSpace(good)[:40] + "\n": `line 1: the hash of user "alice"`,
		good + strings.Repeat("a", 1<<17):   "reading users",
		"":                                  "the file has no users",
		"# nobody\n\n":                      "the file has no users",
	} {
		if u, err := gate.ParseUsers([]byte(text)); u != nil || err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%.80q: %v", text, err)
		} else if _, hash, _ := strings.Cut(good, ":"); strings.Contains(err.Error(), hash[:30]) {
			t.Errorf("%.80q: the error shows a hash: %v", text, err)
		}
	}
}

func basic(userinfo string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(userinfo))
}

// guarded returns a Gate for the given users on this machine, with a clock.
func guarded(t testing.TB, now func() time.Time, lines ...string) *gate.Gate {
	t.Helper()
	return gate.New(gate.Config{Access: gate.Access{
		Resolve: prefixes("127.0.0.0/8"), Proxy: prefixes("127.0.0.0/8"),
		Users: users(t, lines...),
	}, Now: now})
}

// The forward proxy reads Proxy-Authorization, and urnd as an origin Authorization (RFC 9110 sections 11.6
// and 11.7), each ignoring the other field; names need no password.
func TestCredentials(t *testing.T) {
	const scheme = "Basic"
	forward := []string{"http://a.example/", "ftp://a.example/"}
	own := []string{
		"/http://a.example/", "/?uri=http://a.example/", "/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a",
		"/api/v1/resolve?uri=http://a.example/", "/fetch?uri=http://a.example/",
	}
	names := []string{"/urn:example:a", "/uri-res/N2L?urn:example:a", "/", "/api/v1/resolve?uri=urn:example:a"}
	right := basic("alice:a:b")
	lines := []string{hashed(t, "alice", "a:b"), hashed(t, "bob", "b")}
	classified := asking(t)
	admitted := func(target string, header http.Header) gate.Verdict {
		ask := classified(http.MethodGet, target, "urnd.example", true)
		client := gate.Client{
			Addr: netip.MustParseAddr("127.0.0.1"), Header: httpmessage.NewHeader(header),
			Host: "urnd.example",
		}
		return guarded(t, at, lines...).Admit(t.Context(), &client, &ask)
	}
	for _, wrong := range []string{
		"", scheme, scheme + " ", scheme + " !", basic("alice"), basic("alice:b"), basic("bob:a:b"),
		basic("mallory:a:b"), basic(":"), right + "x", "Bearer " + strings.TrimPrefix(right, scheme+" "),
		`Digest username="alice"`,
	} {
		for _, target := range forward {
			if v := admitted(target,
				http.Header{"Proxy-Authorization": {wrong}, "Authorization": {right}}); !errors.Is(v.Err,
				problem.ErrProxyLogin) {
				t.Errorf("%s with %q: %v", target, wrong, v.Err)
			}
		}
		for _, target := range own {
			if v := admitted(target,
				http.Header{"Authorization": {wrong}, "Proxy-Authorization": {right}}); !errors.Is(v.Err,
				problem.ErrLogin) {
				t.Errorf("%s with %q: %v", target, wrong, v.Err)
			}
		}
	}
	for credentials, user := range map[string]string{
		right: "alice",
		strings.Replace(right, scheme, "bAsIc", 1): "alice", basic("bob:b"): "bob",
	} {
		for _, target := range forward {
			if v := admitted(target, http.Header{"Proxy-Authorization": {credentials}}); v.Err != nil ||
				v.User != user {
				t.Errorf("%s with %q: %v, %q", target, credentials, v.Err, v.User)
			}
		}
		for _, target := range own {
			if v := admitted(target, http.Header{"Authorization": {credentials}}); v.Err != nil || v.User != user {
				t.Errorf("%s with %q: %v, %q", target, credentials, v.Err, v.User)
			}
		}
	}
	for _, target := range names {
		if v := admitted(target, http.Header{"Authorization": {basic("mallory:m")}}); v.Err != nil {
			t.Errorf("%s: %v", target, v.Err)
		}
	}
}

// A client that may not use the proxy is not asked for a password, and is denied with a right one.
func TestLoginFromElsewhere(t *testing.T) {
	g := gate.New(gate.Config{Access: gate.Access{
		Resolve: prefixes("127.0.0.0/8"), Proxy: prefixes("192.0.2.0/24"),
		Users: users(t, hashed(t, "alice", "a")),
	}, Now: at})
	for _, target := range []string{"http://a.example/", "/http://a.example/", "/uri-res/N2R?urn:example:a"} {
		for _, authorization := range []string{basic("alice:a"), ""} {
			ask := askOf(t, http.MethodGet, target, "urnd.example", true)
			header := http.Header{"Authorization": {authorization}, "Proxy-Authorization": {authorization}}
			client := gate.Client{Addr: netip.MustParseAddr("127.0.0.1"), Header: httpmessage.NewHeader(header)}
			if v := g.Admit(t.Context(), &client, &ask); !errors.Is(v.Err, problem.ErrProxyClient) {
				t.Errorf("%s with %q: %v", target, authorization, v.Err)
			}
		}
	}
}

// logIn requests a redirect of a URL with a password, and returns the error.
func logIn(t testing.TB, g *gate.Gate, client, user, password string) error {
	t.Helper()
	ask := askOf(t, http.MethodGet, "/http://a.example/", "urnd.example", true)
	header := http.Header{"Authorization": {basic(user + ":" + password)}}
	v := g.Admit(t.Context(),
		&gate.Client{Addr: netip.MustParseAddr(client), Header: httpmessage.NewHeader(header), Host: "urnd.example"},
		&ask)
	return v.Err
}

// Any number of concurrent wrong passwords never locks out a right one, of the same address or of another
// one; nor do many first logins lock out each other: they wait for their comparison.
func TestGuesses(t *testing.T) {
	const here, elsewhere, logins = "127.0.0.1", "127.0.1.1", 60
	var lines []string
	for i := range logins {
		lines = append(lines, hashed(t, fmt.Sprint("user", i), "right"))
	}
	for name, tt := range map[string]struct {
		guessers, addresses int
		from                []string // the addresses of right passwords
	}{
		"none":             {0, 1, []string{here}},
		"at one address":   {40, 1, []string{here, elsewhere}},
		"at ten addresses": {300, 10, []string{elsewhere}},
	} {
		t.Run(name, func(t *testing.T) {
			g := guarded(t, at, lines...)
			var ended atomic.Bool
			var guessers, clients sync.WaitGroup
			var told, refused atomic.Int32
			for i := range tt.guessers {
				guessers.Go(func() {
					for n := 0; !ended.Load(); n++ {
						name, client := []string{"user0", "user1", "mallory", fmt.Sprint(i, n)}[n%4],
							fmt.Sprint("127.0.0.", 1+i%tt.addresses)
						if err := logIn(t, g, client, name, fmt.Sprint("wrong", i, n)); !errors.Is(err,
							problem.ErrLogin) {
							t.Errorf("a wrong password: %v", err)
						}
						told.Add(1)
					}
				})
			}
			testserver.Wait(t, "there were many wrong ones",
				func() bool { return tt.guessers == 0 || told.Load() > 100 })
			for _, from := range tt.from {
				for i := range logins {
					clients.Go(func() {
						if err := logIn(t, g, from, fmt.Sprint("user", i), "right"); err != nil {
							refused.Add(1)
						}
					})
				}
			}
			clients.Wait()
			ended.Store(true)
			guessers.Wait()
			if refused.Load() > 0 {
				t.Errorf("%d right passwords of %d were refused", refused.Load(), logins*len(tt.from))
			}
		})
	}
}

// A comparison is not repeated: neither for a right password, nor for a wrong one that the same client sends
// again, as programs do.
func TestPasswordsOnce(t *testing.T) {
	const cost = bcrypt.MinCost + 4
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), cost)
	if err != nil {
		t.Fatal(err)
	}
	u, client := users(t, "alice:"+string(hash)), netip.MustParseAddr("192.0.2.1")
	for _, password := range []string{"right", "wrong"} {
		begin := time.Now()
		if right, err := u.Check(t.Context(), client, "alice", password); right != (password == "right") || err != nil {
			t.Fatalf("%s: %t, %v", password, right, err)
		}
		once := time.Since(begin)
		begin = time.Now()
		for range 1000 {
			if right, err := u.Check(t.Context(), client, "alice", password); right != (password == "right") ||
				err != nil {
				t.Fatalf("%s: %t, %v", password, right, err)
			}
		}
		if all := time.Since(begin); all > 100*once {
			t.Errorf("%s: 1000 times took %s, and once %s", password, all, once)
		}
	}
}

// A client that has disconnected does not wait for its comparison.
func TestPasswordsOfClientsThatLeft(t *testing.T) {
	u := users(t, hashed(t, "alice", "right"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 100 { // the slot may be free
		if _, err := u.Check(ctx, netip.Addr{}, "alice", fmt.Sprint("wrong", i)); err != nil &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("a client that has left: %v", err)
		}
	}
}
