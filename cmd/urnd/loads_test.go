package main

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
)

// What one client sends does not change what others get, although one question to the server is
// for all who wait: its header would be refused by this server.
func TestHeaderOfOneClient(t *testing.T) {
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
	d := startService(t, "127.0.0.1:9", func(c *config.Config) {
		openLoopback(c)
		c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{server.URL}}}
	})
	got := d.get(t, "/urn:book:1", "Via: "+strings.Repeat("1.1 proxy.example, ", 1500)+"1.1 last", "Traceparent: "+traceparent, "Cookie: a=b")
	if got.status != http.StatusFound || got.location != "http://a.example/" {
		t.Errorf("%+v", got)
	}
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

// Two urnds ask each other for ever: the hop count ends it at once, and nobody waits for himself.
func TestLoopOfTwo(t *testing.T) {
	var forward atomic.Pointer[http.HandlerFunc] // where the second one asks: the first one
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*forward.Load())(w, r) }))
	defer between.Close()
	configured := func(server string) func(*config.Config) {
		return func(c *config.Config) {
			openLoopback(c)
			c.THTTP.Timeout = time.Minute
			c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{server}}}
		}
	}
	second := startService(t, "127.0.0.1:9", configured(between.URL))
	first := startService(t, "127.0.0.1:9", configured(second.url))
	var hops []string
	relay := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // it hides the Via of urnd
		hops = append(hops, r.Header.Get(resolver.HopsField))
		request, _ := http.NewRequest(r.Method, first.url+r.RequestURI, nil)
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
	got := first.get(t, "/urn:book:1")
	if got.status != http.StatusBadGateway || !strings.Contains(first.log.String(), "it answered 50") {
		t.Errorf("%+v", got)
	}
	testserver.Wait(t, "two rounds", func() bool { return strings.Join(hops, " ") == "2 4" })
	if got := first.get(t, "/urn:book:2", resolver.HopsField+": four"); got.status != http.StatusBadRequest {
		t.Errorf("a hop count that is no number: %+v", got)
	}
}
