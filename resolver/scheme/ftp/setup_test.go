package ftp

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

func guarded(timeout time.Duration) scheme.Dial {
	guard := netguard.New(timeout, netip.MustParsePrefix("127.0.0.0/8"))
	return func(ctx context.Context, network, address string, check func(netip.AddrPort) error) (net.Conn, error) {
		return guard.WithCheck(check).DialContext(ctx, network, address)
	}
}

func settings() Config {
	const timeout = time.Minute // Pure-FTPd needs seconds to check a password
	return Config{
		Dial: guarded(timeout), Limits: scheme.Limits{Timeout: timeout, Entries: 1000, Bytes: 1 << 20, Line: 8 << 10},
		Now:       func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) },
		Anonymous: "urnd@", AllowLogin: true, MaxIdle: 4, IdleTimeout: time.Minute,
	}
}

// handler returns a Handler that is closed at the end of the test.
func handler(t testing.TB, change ...func(*Config)) *Handler {
	config := settings()
	for _, c := range change {
		c(&config)
	}
	h := New(config)
	t.Cleanup(h.Close)
	return h
}

func request(t testing.TB, method, text string, fields ...string) scheme.Request {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	header := httpmessage.Fields{}
	for i := 0; i < len(fields); i += 2 {
		header.Set(fields[i], fields[i+1])
	}
	return scheme.Request{Request: httpmessage.Request{Method: method, URI: u, Fields: header, ContentLength: -1}}
}

// get fetches a URL, and returns the resource with its full body.
func get(t testing.TB, h *Handler, text string, fields ...string) (*scheme.Resource, string, error) {
	t.Helper()
	return do(t, h, request(t, http.MethodGet, text, fields...))
}

func do(t testing.TB, h *Handler, r scheme.Request) (*scheme.Resource, string, error) {
	t.Helper()
	resource, err := h.Fetch(t.Context(), r)
	if err != nil {
		return nil, "", err
	}
	defer resource.Body.Close()
	text, err := io.ReadAll(resource.Body)
	return resource, string(text), err
}

// names returns the names of the items of a listing, directories with a trailing slash.
func names(l *scheme.Listing) []string {
	var all []string
	for _, item := range l.Items {
		name := item.Name
		if item.Kind == scheme.ItemDirectory {
			name += "/"
		}
		all = append(all, name)
	}
	return all
}
