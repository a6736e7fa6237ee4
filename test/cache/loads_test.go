//go:build e2e

package cache

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestHeaderOfOneClient checks that the header of one client does not affect the responses to others, although
// their requests to the server are collapsed: this server would reject the header.
func TestHeaderOfOneClient(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int32
	var mu sync.Mutex
	fields := make(map[string]string)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		for name, lines := range r.Header {
			fields[name] = strings.Join(lines, ", ")
		}
		mu.Unlock()
		arrived.Add(1)
		http.Redirect(w, r, "http://a.example/", http.StatusSeeOther)
	}))
	server.Config.MaxHeaderBytes = 4 << 10
	server.Start()
	defer server.Close()
	d := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{server.URL}}}
	})
	got := d.Get(t, "/urn:book:1", "Via: "+strings.Repeat("1.1 proxy.example, ", 1500)+"1.1 last",
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Cookie: a=b")
	if got.Status != http.StatusFound || got.Location != "http://a.example/" {
		t.Errorf("%+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	for name, value := range fields {
		switch name {
		case "Accept", "Accept-Encoding", "User-Agent":
		case "Via":
			if strings.Contains(value, ",") {
				t.Errorf("Via: %.100s", value)
			}
		case resolver.HopsField:
			if value != "1" {
				t.Errorf("hops: %s", value)
			}
		default:
			t.Errorf("the server was sent %s: %.100s", name, value)
		}
	}
}

// TestLoopOfTwo checks that the hop count immediately ends a loop of two urnds, and that no request waits for
// itself.
func TestLoopOfTwo(t *testing.T) {
	t.Parallel()
	var forward atomic.Pointer[http.HandlerFunc] // target of the second urnd: the first one
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*forward.Load())(w, r)
	}))
	defer between.Close()
	configured := func(server string) func(*config.Config) {
		return func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.THTTP.Timeout = time.Minute
			c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{server}}}
		}
	}
	second := urndtest.Start(t, "127.0.0.1:9", configured(between.URL))
	first := urndtest.Start(t, "127.0.0.1:9", configured(second.URL))
	var mu sync.Mutex
	var hops []string
	relay := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // removes the Via of urnd
		mu.Lock()
		hops = append(hops, r.Header.Get(resolver.HopsField))
		mu.Unlock()
		request, _ := http.NewRequest(r.Method, first.URL+r.RequestURI, nil)
		request.Header.Set(resolver.HopsField, r.Header.Get(resolver.HopsField))
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Error(err)
			return
		}
		response.Body.Close()
		w.WriteHeader(response.StatusCode)
	})
	forward.Store(&relay)
	got := first.Get(t, "/urn:book:1")
	if got.Status != http.StatusBadGateway {
		t.Errorf("%+v", got)
	}
	first.WaitForLog(t, "response status 50")
	testserver.Wait(t, "two rounds", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(hops, " ") == "2 4"
	})
	if got := first.Get(t, "/urn:book:2", resolver.HopsField+": four"); got.Status != http.StatusBadRequest {
		t.Errorf("a hop count that is not a number: %+v", got)
	}
}
