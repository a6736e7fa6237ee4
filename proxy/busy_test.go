package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// At a limit, only requests that need a slot of that limit are rejected.
func TestBusy(t *testing.T) {
	resolutions, fetches := make(quota.Semaphore, 1), make(quota.Semaphore, 1)
	s := start(t, func(c *proxy.Config) {
		c.Forward.Fetches = quota.Limit{Semaphore: fetches, Busy: problem.ErrTooManyFetches}
		known := c.Resolver
		limited := resolver.Limit{
			Semaphore: resolutions, Next: known,
			Busy: fmt.Errorf("%w (limits.requests)", resolver.ErrBusy),
		}
		c.Resolver = resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
			if strings.Contains(q.URI.String(), "known") {
				return known.Resolve(ctx, q)
			}
			return limited.Resolve(ctx, q)
		})
	})
	forward := "http://" + origin(t) + "/"
	const resolving, fetching = "limits.requests", "limits.fetches"
	for _, tt := range []struct {
		target string
		idle   int
		needs  string // the limit that the request needs a slot of
	}{
		{"/urn:example:known", 302, ""},
		{"/", 200, ""},
		{"/http://a.example/known", 302, ""},
		{"/urn:example:a", 302, resolving},
		{"/uri-res/N2L?urn:example:a", 303, resolving},
		{"/api/v1/resolve?uri=urn:example:a", 200, resolving},
		{"/uri-res/N2R?urn:example:known", http.StatusNotImplemented, fetching}, // its location has the scheme https
		{"/uri-res/N2Rs?urn:example:known", http.StatusNotImplemented, fetching},
		{forward, http.StatusTeapot, fetching},
	} {
		for limit, slots := range map[string]quota.Semaphore{resolving: resolutions, fetching: fetches} {
			if got := s.get(t, tt.target).StatusCode; got != tt.idle {
				t.Errorf("%s: %d", tt.target, got)
			}
			if !slots.TryAcquire() {
				t.Fatalf("%s does not give its slot of %s back", tt.target, limit)
			}
			want := tt.idle
			if limit == tt.needs {
				want = http.StatusServiceUnavailable
			}
			response := s.get(t, tt.target)
			if body := text(t, response); response.StatusCode != want ||
				limit == tt.needs && (response.Header.Get("Retry-After") != "1" ||
					response.Header.Get("Cache-Control") != "no-store" || !strings.Contains(body, limit)) {
				t.Errorf("%s where %s is reached: %d %v %s", tt.target, limit, response.StatusCode,
					response.Header, body)
			}
			slots.Release()
		}
	}
}

// A request takes one slot of the fetch limit, however many locations it tries.
func TestRequestTakesOneSlot(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Forward.Fetches = quota.Limit{Semaphore: make(quota.Semaphore, 1), Busy: problem.ErrTooManyFetches}
	})
	// They answer with 418, which is not a resource.
	s.next = withLocations("http://"+origin(t)+"/", "http://"+origin(t)+"/2")
	for _, target := range []string{"/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a"} {
		if response := s.get(t, target); response.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %d %s", target, response.StatusCode, text(t, response))
		}
	}
}

// echo is an origin that switches to another protocol and echoes.
func echo(t *testing.T) *httptest.Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(conn, conn)
	}))
	t.Cleanup(web.Close)
	return web
}

// Idle WebSockets take slots of the stream limit, but none of fetches and resolutions.
func TestStreamsLeaveOtherSlots(t *testing.T) {
	const streams = 20
	fetches, upgraded, resolutions := make(quota.Semaphore, 2), make(quota.Semaphore, streams), make(quota.Semaphore, 1)
	s := start(t, func(c *proxy.Config) {
		c.Forward.Fetches, c.Forward.Streams = quota.Limit{Semaphore: fetches, Busy: problem.ErrTooManyFetches},
			quota.Limit{Semaphore: upgraded, Busy: problem.ErrTooManyStreams}
		c.Resolver = resolver.Limit{Semaphore: resolutions, Next: c.Resolver}
	})
	web := echo(t)
	upgrade := "GET " + web.URL + "/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	var idle []net.Conn
	for i := range streams {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		c := newConn(conn)
		if response := c.ask(t, upgrade); response.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%d. %d", i, response.StatusCode)
		}
		idle = append(idle, conn)
	}
	if got := s.get(t, "/urn:example:a").StatusCode; got != http.StatusFound {
		t.Errorf("a name: %d", got)
	}
	if got := s.get(t, web.URL+"/").StatusCode; got != http.StatusOK {
		t.Errorf("a fetch: %d", got)
	}
	if response := s.get(t, web.URL+"/", "Connection: Upgrade",
		"Upgrade: echo"); response.StatusCode != http.StatusServiceUnavailable ||
		response.Header.Get("Proxy-Status") == "" ||
		!strings.Contains(text(t, response), "limits.streams") {
		t.Errorf("one stream too many: %d", response.StatusCode)
	}
	if len(fetches) != 0 {
		t.Errorf("streams hold %d slots of fetches", len(fetches))
	}
	for _, conn := range idle {
		conn.Close()
	}
	testserver.Wait(t, "all streams have ended", func() bool { return len(upgraded) == 0 })
	if response := s.get(t, web.URL+"/", "Connection: Upgrade",
		"Upgrade: echo"); response.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("a stream after them: %d", response.StatusCode)
	}
}
