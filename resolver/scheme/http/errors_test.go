package http_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// TestUnanswered requires that an error wraps ErrUnanswered only if the server was, or may have been,
// contacted.
func TestUnanswered(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	silent := serve(t, func(_ int, _ net.Conn, in *bufio.Reader) { readHead(in) })
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	_, port, _ := net.SplitHostPort(closed.Addr().String())
	failed := &net.OpError{Op: "dial", Err: errors.New("the DNS server cannot be reached")}
	guard := netguard.New(time.Second,
		netip.MustParsePrefix("127.0.0.1/32")).WithLookup(func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "unknown.example" {
			return nil, failed
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	full := make(quota.Semaphore, 1)
	full.TryAcquire()
	for _, tt := range []struct {
		name, uri string
		guard     *netguard.Guard
		ctx       context.Context
		want      bool
	}{
		{"no response", "http://" + silent.addr + "/", guard, t.Context(), true},
		{"refused", "http://127.0.0.1:" + port + "/", guard, t.Context(), true},
		{"refused, by name", "http://known.example:" + port + "/", guard, t.Context(), true},
		{"no TLS", "https://" + silent.addr + "/", guard, t.Context(), true},
		{"not found", "http://unknown.example/", guard, t.Context(), false},
		{"forbidden", "http://127.0.0.2/", guard, t.Context(), false},
		{"at the limit", "http://" + silent.addr + "/", guard.WithLimiter(full), ended, false},
		{"not valid", "http:///", guard, t.Context(), false},
	} {
		h := newHandler(t, func(c *schemehttp.Config) { c.Dial = tt.guard.DialContext })
		_, err := h.Fetch(tt.ctx, scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, tt.uri)}})
		if err == nil || errors.Is(err, scheme.ErrNoResponse) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, words := range []string{"destination not allowed", "source unreachable"} {
			if strings.Count(err.Error(), words) > 1 {
				t.Errorf("%s says it twice: %v", tt.name, err)
			}
		}
	}
}
