package gate_test

import (
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
)

// limited returns a Gate for all clients with a rate limit.
func limited(perSecond int, now func() time.Time) *gate.Gate {
	all := prefixes("0.0.0.0/0", "::/0")
	return gate.New(gate.Config{Access: gate.Access{
		Resolve: all, Proxy: all, Trusted: prefixes("10.0.0.0/8"),
		Rate: perSecond,
	}, Now: now})
}

func TestRate(t *testing.T) {
	var now time.Duration
	g, ask := limited(2, func() time.Time { return at().Add(now) }), asking(t)
	for i, tt := range []struct {
		at           time.Duration
		peer, behind string
		allowed      bool
	}{
		{0, "203.0.113.1:1", "", true},
		{0, "203.0.113.1:2", "", true},
		{0, "203.0.113.1:3", "", false},
		{0, "[::ffff:203.0.113.1]:1", "", false},
		{0, "203.0.113.2:1", "", true},
		{0, "10.0.0.1:1", "203.0.113.1", false},
		{0, "10.0.0.1:1", "203.0.113.3", true},
		{0, "10.0.0.1:1", "203.0.113.3", true},
		{0, "10.0.0.1:1", "203.0.113.3", false},
		{0, "10.0.0.1:1", "203.0.113.4", true},
		{0, "203.0.113.5:1", "203.0.113.6", true},
		{0, "203.0.113.5:1", "203.0.113.7", true},
		{0, "203.0.113.5:1", "203.0.113.8", false}, // each of its requests names another client
		{0, "[2001:db8::1]:1", "", true},
		{0, "[2001:db8::ffff:2]:1", "", true},
		{0, "[2001:db8::3]:1", "", false}, // a /64 network is one client
		{0, "[2001:db8:0:1::1]:1", "", true},
		{0, "@", "", true}, // a local client
		{0, "@", "", true},
		{0, "127.0.0.1:1", "", false},
		{499 * time.Millisecond, "203.0.113.1:1", "", false},
		{500 * time.Millisecond, "203.0.113.1:1", "", true},
		{500 * time.Millisecond, "203.0.113.1:1", "", false},
		{time.Hour, "203.0.113.1:1", "", true},
		{time.Hour, "203.0.113.1:1", "", true},
		{time.Hour, "203.0.113.1:1", "", false}, // unused requests do not accumulate
		{0, "203.0.113.1:1", "", false},         // not even if the clock is set back
	} {
		now = tt.at
		header := make(http.Header)
		if tt.behind != "" {
			header.Set("X-Forwarded-For", tt.behind)
		}
		client := gate.NewClient(tt.peer, httpmessage.NewHeader(header), prefixes("10.0.0.0/8"))
		ask := ask(http.MethodGet, "/urn:example:a", "urnd.example", client.Addr.IsLoopback())
		v := g.Admit(t.Context(), &client, &ask)
		if tt.allowed && v.Err != nil || !tt.allowed && !errors.Is(v.Err, problem.ErrTooManyRequests) {
			t.Errorf("%d. %s for %s after %s: %v", i, tt.peer, tt.behind, tt.at, v.Err)
		}
	}
}

// Requests of all forms are counted, and denied.
func TestRateOfAllForms(t *testing.T) {
	client := gate.Client{Addr: netip.MustParseAddr("203.0.113.1")}
	for _, target := range []string{
		"/", "/urn:example:a", "/nothing", "http://a.example/",
		"/uri-res/N2R?urn:example:a", "/api/v1/resolve", "urn:a",
	} {
		g, ask := limited(1, at), askOf(t, http.MethodGet, target, "urnd.example", false)
		if v := g.Admit(t.Context(), &client, &ask); v.Err != nil {
			t.Errorf("%s: %v", target, v.Err)
		}
		if v := g.Admit(t.Context(), &client, &ask); !errors.Is(v.Err, problem.ErrTooManyRequests) {
			t.Errorf("%s once more: %v", target, v.Err)
		}
	}
	g, ask := limited(0, at), askOf(t, http.MethodGet, "/urn:example:a", "urnd.example", false)
	for range 1000 {
		if v := g.Admit(t.Context(), &client, &ask); v.Err != nil {
			t.Fatalf("without a bound: %v", v.Err)
		}
	}
}
