//go:build e2e

package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestIdleStreamsLeaveOtherSlots checks that with the default limits 1,024 idle WebSockets do not block other
// requests: an uncached name is resolved over a new connection to a server, and an origin is fetched from.
// Another WebSocket is rejected.
func TestIdleStreamsLeaveOtherSlots(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	var hijacked sync.WaitGroup
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		hijacked.Go(func() {
			<-open
			conn.Close()
		})
	}))
	defer origin.Close()
	defer hijacked.Wait()
	defer close(open)
	var requested atomic.Int32
	resolution := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requested.Add(1)
		w.Header().Set("Location", "https://a.example/")
		w.WriteHeader(http.StatusSeeOther)
	}))
	defer resolution.Close()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Limits.ClientShare = 100
		c.Namespaces = []config.Namespace{{NID: "book", Order: []string{"thttp"}, THTTP: []string{resolution.URL}}}
	})
	upgrade := "GET " + origin.URL + "/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
	status := func(from, request string) int {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: testserver.Timeout}
		conn, err := dialer.Dial("tcp", at(d.URL))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
	streams := config.Default().Limits.Streams
	if streams != 1024 {
		t.Fatalf("limits.streams is %d by default", streams)
	}
	for i := range streams {
		if got := status("127.0.0.2", upgrade); got != http.StatusSwitchingProtocols {
			t.Fatalf("WebSocket %d: %d", i, got)
		}
	}
	if got := status("127.0.0.1", upgrade); got != http.StatusServiceUnavailable {
		t.Errorf("one WebSocket too many: %d", got)
	}
	if got := d.Get(t, "/urn:book:1"); got.Status != http.StatusFound || requested.Load() != 1 {
		t.Errorf("a name that is not cached: %+v, after %d questions", got, requested.Load())
	}
	if got := status("127.0.0.1", "GET "+origin.URL+"/ HTTP/1.1\r\nHost: a\r\n\r\n"); got != http.StatusOK {
		t.Errorf("a fetch: %d", got)
	}
}
