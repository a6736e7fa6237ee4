package health

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// web is a server whose behavior depends on the path.
type web struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // method and path
	agents   map[string]bool
	hanging  chan struct{}
}

func newWeb(t *testing.T) *web {
	w := &web{agents: make(map[string]bool), hanging: make(chan struct{})}
	mux := http.NewServeMux()
	status := func(path string, head, get int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				w.WriteHeader(head)
				return
			}
			w.WriteHeader(get)
		})
	}
	redirectBy := func(status int, path, to string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Location"] = []string{to}
			w.WriteHeader(status)
		})
	}
	redirect := func(path, to string) { redirectBy(http.StatusFound, path, to) }
	redirectBy(http.StatusMovedPermanently, "/for-good", "/moved-again")
	redirectBy(http.StatusPermanentRedirect, "/moved-again", "/204")
	redirectBy(http.StatusMovedPermanently, "/for-good-then-not", "/moved")
	redirectBy(http.StatusMovedPermanently, "/for-good-gone", "/410")
	redirectBy(http.StatusMovedPermanently, "/for-good-guarded", "/401")
	redirectBy(http.StatusMovedPermanently, "/for-good-far", "/"+strings.Repeat("x", maxMovedURI))
	status("/"+strings.Repeat("x", maxMovedURI), 200, 200)
	redirect("/then-for-good", "/for-good")
	for _, code := range []int{200, 204, 401, 402, 403, 404, 410, 418, 429, 451, 500, 502} {
		status(fmt.Sprintf("/%d", code), code, code)
	}
	status("/head405", 405, 200)
	status("/head501", 501, 200)
	status("/head404", 404, 200)
	status("/head403", 403, 200)
	status("/head500", 500, 404)
	redirect("/moved", "/200")
	redirect("/moved-gone", "/410")
	redirect("/moved-out", "ftp://example.org/")
	redirect("/moved-bad", "http://[::1")
	redirect("/moved-raw", "/200?a[]=\xc3\xa4|b")
	redirect("/nowhere", "")
	redirect("/self", "/self")
	redirect("/a", "/b")
	redirect("/b", "/a")
	redirect("/inside", "http://10.0.0.1/")
	for i := range 6 {
		redirect(fmt.Sprintf("/chain%d", i), fmt.Sprintf("/chain%d", i+1))
	}
	status("/chain6", 200, 200)
	mux.HandleFunc("/hangup", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/head-hangup", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			panic(http.ErrAbortHandler)
		}
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-w.hanging:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/huge", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		for r.Context().Err() == nil { // endless
			if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	})
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, r.Method+" "+r.URL.Path)
		w.agents[r.UserAgent()] = true
		w.mu.Unlock()
		mux.ServeHTTP(out, r)
	}))
	t.Cleanup(func() {
		close(w.hanging)
		w.Close()
	})
	return w
}

func (w *web) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.requests...)
}

// newTransport returns the HTTP client of urnd, restricted to servers on 127.0.0.1.
func newTransport(t *testing.T) http.RoundTripper {
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.1/32"))
	h := schemehttp.New(schemehttp.Config{
		Dial: guard.DialContext, HeaderTimeout: 10 * time.Second, MaxIdle: 4,
		Now: time.Now,
	})
	t.Cleanup(h.Close)
	return h
}

func newProber(transport http.RoundTripper, timeout time.Duration) *prober {
	return &prober{
		transport: transport, agent: "urnd-link-check/1 (+mailto:a@example.org)", timeout: timeout, now: time.Now,
		hosts: newHosts(0, 1_000_000, time.Now, time.After),
	}
}

func TestProbe(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing.Close()
	web := newWeb(t)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	transport := newTransport(t)
	for _, c := range []struct {
		target   string
		outcome  Outcome
		status   int
		error    string // a part of it
		requests string
	}{
		{"/200", Alive, 200, "", "HEAD /200"},
		{"/200#part", Alive, 200, "", "HEAD /200"},
		{"/204", Alive, 204, "", "HEAD /204"},
		{"/401", Guarded, 401, "", "HEAD /401"},
		{"/402", Guarded, 402, "", "HEAD /402"},
		{"/403", Guarded, 403, "", "HEAD /403 GET /403"},
		{"/451", Guarded, 451, "", "HEAD /451 GET /451"},
		{"/404", Gone, 404, "404 Not Found", "HEAD /404 GET /404"},
		{"/410", Gone, 410, "410 Gone", "HEAD /410"},
		{"/418", Failing, 418, "418", "HEAD /418 GET /418"},
		{"/500", Failing, 500, "500", "HEAD /500 GET /500"},
		{"/502", Failing, 502, "502", "HEAD /502 GET /502"},
		{"/head405", Alive, 200, "", "HEAD /head405 GET /head405"},
		{"/head501", Alive, 200, "", "HEAD /head501 GET /head501"},
		{"/head404", Alive, 200, "", "HEAD /head404 GET /head404"},
		{"/head403", Alive, 200, "", "HEAD /head403 GET /head403"},
		{"/head500", Gone, 404, "404", "HEAD /head500 GET /head500"},
		{"/moved", Alive, 200, "", "HEAD /moved HEAD /200"},
		{"/moved-gone", Gone, 410, "410", "HEAD /moved-gone HEAD /410"},
		{"/moved-out", Alive, 302, "", "HEAD /moved-out"},
		{"/moved-bad", Failing, 302, "not a URI", "HEAD /moved-bad"},
		{"/moved-raw", Alive, 200, "", "HEAD /moved-raw HEAD /200"},
		{"/nowhere", Failing, 302, "without a Location", "HEAD /nowhere"},
		{"/self", Failing, 302, "itself", "HEAD /self"},
		{"/a", Failing, 0, "more than 5 redirects", "HEAD /a HEAD /b HEAD /a HEAD /b HEAD /a HEAD /b"},
		{
			"/chain0", Failing, 0, "more than 5 redirects",
			"HEAD /chain0 HEAD /chain1 HEAD /chain2 HEAD /chain3 HEAD /chain4 HEAD /chain5",
		},
		{"/chain1", Alive, 200, "", "HEAD /chain1 HEAD /chain2 HEAD /chain3 HEAD /chain4 HEAD /chain5 HEAD /chain6"},
		{"/hangup", Failing, 0, "unreachable", ""},
		{"/head-hangup", Alive, 200, "", ""},
		{"/huge", Alive, 200, "", "HEAD /huge GET /huge"},
		{"/inside", Forbidden, 0, "not allowed", "HEAD /inside"},
		{"http://10.0.0.1/", Forbidden, 0, "not allowed", ""},
		{"http://127.0.0.2/", Forbidden, 0, "not allowed", ""},
		{"http://" + refusing.Addr().String() + "/", Failing, 0, "refused", ""},
		{secure.URL, Failing, 0, "certificate", ""},
		{"ftp://example.org/", Unchecked, 0, "only http", ""},
		{"urn:isbn:0-395-36341-1", Unchecked, 0, "only http", ""},
		{"http:///x", Unchecked, 0, "only http", ""},
	} {
		t.Run(c.target, func(t *testing.T) {
			target := c.target
			if strings.HasPrefix(target, "/") {
				target = web.URL + target
			}
			before := len(web.seen())
			r := newProber(transport, 10*time.Second).check(t.Context(), target)
			if r.Outcome != c.outcome || r.Status != c.status || !strings.Contains(r.Error, c.error) ||
				(c.error == "") != (r.Error == "") {
				t.Errorf("%+v", r)
			}
			if got := strings.Join(web.seen()[before:], " "); c.requests != "" && got != c.requests {
				t.Errorf("requests: %s", got)
			}
		})
	}
	if len(web.agents) != 1 || !web.agents["urnd-link-check/1 (+mailto:a@example.org)"] {
		t.Errorf("agents: %v", web.agents)
	}
}

// A permanent move is known up to the first redirect that is not permanent, if the final location is alive
// (RFC 9110 section 15.4.2).
func TestMovedForGood(t *testing.T) {
	web := newWeb(t)
	transport := newTransport(t)
	for target, want := range map[string]string{
		"/200": "", "/moved": "", "/for-good": "/204", "/for-good#part": "/204", "/for-good-then-not": "/moved",
		"/then-for-good": "", "/for-good-gone": "", "/for-good-guarded": "", "/for-good-far": "",
	} {
		if want != "" {
			want = web.URL + want
		}
		if r := newProber(transport, 10*time.Second).check(t.Context(), web.URL+target); r.Moved != want {
			t.Errorf("%s has moved to %q, want %q", target, r.Moved, want)
		}
	}
}

func TestProbeSilent(t *testing.T) {
	web := newWeb(t)
	r := newProber(newTransport(t), 50*time.Millisecond).check(t.Context(), web.URL+"/silent")
	if r.Outcome != Failing || r.Status != 0 || r.Error == "" {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := newProber(newTransport(t), time.Minute).check(ctx, web.URL+"/silent"); r.Outcome == Alive {
		t.Errorf("canceled: %+v", r)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              usualRetry,
		"120":                           2 * time.Minute,
		" 7 ":                           7 * time.Second,
		"0":                             0,
		"-1":                            usualRetry,
		"99999":                         maxRetry,
		"99999999999999999999999":       maxRetry,
		"soon":                          usualRetry,
		"Thu, 01 May 2031 12:10:00 GMT": 10 * time.Minute,
		"Thu, 01 May 2031 11:00:00 GMT": 0,
		"Fri, 02 May 2031 11:00:00 GMT": maxRetry,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "120", "Thu, 01 May 2031 12:10:00 GMT", "9999999999999999999", "1e3"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if d := retryAfter(value, time.Unix(1_900_000_000, 0)); d < 0 || d > maxRetry {
			t.Errorf("%s", d)
		}
	})
}
