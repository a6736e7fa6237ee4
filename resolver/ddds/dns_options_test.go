package ddds

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// change returns a client like c with changed settings.
func (c *Client) change(change func(*ClientConfig)) *Client {
	config := c.config
	change(&config)
	return NewClient(config)
}

// countExchanges returns a client like c, and a function that returns the number of queries to each server. It
// is exact once a lookup has returned, while a server may receive a query later.
func (c *Client) countExchanges() (*Client, func() map[string]int) {
	var mu sync.Mutex
	requested := make(map[string]int)
	counting := c.change(func(c *ClientConfig) {
		c.Observe = func(e Exchange) {
			mu.Lock()
			defer mu.Unlock()
			requested[e.Server]++
		}
	})
	return counting, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(requested)
	}
}

// After HedgeAfter another server is queried in parallel.
func TestHedge(t *testing.T) {
	slow, other := serve(t, silent, nil), serve(t, silent, nil)
	quick := serve(t, replyWith("quick.example.").handler(t), nil)
	for _, tt := range []struct {
		name      string
		servers   [2]string
		timeout   time.Duration
		after     time.Duration
		rounds    int
		reply     bool
		requested map[string]int
	}{
		{
			"the first one is slow",
			[2]string{slow, quick},
			longTimeout, time.Millisecond, 1, true,
			map[string]int{slow: 1, quick: 1},
		},
		{
			"the first one answers in time",
			[2]string{quick, slow},
			longTimeout, longTimeout, 1, true,
			map[string]int{quick: 1},
		},
		{
			"no reply, in two rounds",
			[2]string{slow, other},
			shortTimeout, time.Millisecond, 2, false,
			map[string]int{slow: 2, other: 2},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, asked := newTestClient(tt.timeout, tt.servers[:]...).countExchanges()
			c = c.change(func(c *ClientConfig) { c.HedgeAfter, c.Rounds = tt.after, tt.rounds })
			if tt.reply {
				expectReply(t, c, "quick.example.")
			} else if _, _, err := c.NAPTR(t.Context(), name); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("without a reply: %v", err)
			}
			if got := asked(); !maps.Equal(got, tt.requested) {
				t.Errorf("asked %v, want %v", got, tt.requested)
			}
		})
	}
}

func TestRequireAD(t *testing.T) {
	authentic := replyWith("a.example.")
	authentic.change = func(m *dns.Msg) { m.AuthenticatedData = true }
	require := func(c *ClientConfig) { c.RequireAD = true }
	good, bad := serve(t, authentic.handler(t), nil), serve(t, replyWith("b.example.").handler(t), nil)
	ctx, trace := resolver.WithTrace(t.Context(), time.Now)
	got, _, err := newTestClient(longTimeout, good).change(require).NAPTR(ctx, name)
	if replacements(got) != "a.example." || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if steps := trace.Steps(); len(steps) != 1 ||
		!strings.Contains(steps[0].Detail, "1 record, ttl 1m0s, authenticated") {
		t.Errorf("%v", steps)
	}
	if _, _, err := newTestClient(longTimeout, bad).change(require).NAPTR(t.Context(), name); !errors.Is(err,
		errNotAuthentic) || !errors.Is(err,
		resolver.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	expectReply(t, newTestClient(longTimeout, bad, good).change(require), "a.example.")
	expectReply(t, newTestClient(longTimeout, bad), "b.example.")
}

func TestDNSOverTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
	run(t, &dns.Server{Listener: tls.NewListener(listener, config), Handler: replyWith("tls.example.").handler(t)})
	server := Server{Address: listener.Addr().String(), TLS: true}
	with := func(server Server, roots *x509.CertPool) *Client {
		return newTestClient(longTimeout).change(func(c *ClientConfig) {
			c.Servers, c.RootCAs = []Server{server}, roots
		})
	}
	expectReply(t, with(server, roots), "tls.example.")
	named := server
	named.Name = "example.com"
	expectReply(t, with(named, roots), "tls.example.")
	named.Name = "other.example"
	expectUnreachable(t, with(named, roots), "server tls://"+server.Address, "certificate")
	expectUnreachable(t, with(server, nil), "certificate")
}

// Bounds apply to every TTL, and roots separate entries.
func TestBounds(t *testing.T) {
	var now clock
	s := &script{sets: map[string]set{name + " NAPTR": {naptr: []NAPTR{{Replacement: "a."}}, ttl: time.Second}}}
	c := newCached(t, &now, s)
	bounded := NewCached(c.cache, s, Bounds{MinTTL: 10 * time.Second, MaxTTL: time.Minute, Root: "own"})
	expectNAPTR(t, c, s, s.sets[name+" NAPTR"].naptr, time.Second, 1)
	expectNAPTR(t, bounded, s, s.sets[name+" NAPTR"].naptr, 10*time.Second, 2)
	now.advance(9 * time.Second)
	expectNAPTR(t, bounded, s, s.sets[name+" NAPTR"].naptr, time.Second, 2)
	s.sets[name+" NAPTR"] = set{naptr: []NAPTR{{Replacement: "b."}}, ttl: time.Hour}
	now.advance(2 * time.Second)
	expectNAPTR(t, bounded, s, s.sets[name+" NAPTR"].naptr, time.Minute, 3)
}

// A root can have a Lookuper of its own.
func TestRootLookups(t *testing.T) {
	own := &script{sets: map[string]set{"foo.urn.example.org. NAPTR": {naptr: []NAPTR{{
		1, 1, "u", "",
		"!^.*$!http://own.example/!", "",
	}}, ttl: time.Minute}}}
	public := &script{sets: map[string]set{}}
	r := New(Config{
		Lookup: public, Lookups: map[string]Lookuper{"URN.example.org": own},
		Roots: []string{"urn.arpa.", "urn.example.org."}, MaxDomains: 5,
	})
	answer, err := r.Resolve(t.Context(), query(t, "urn:foo:1"))
	if err != nil || locations(answer) != "http://own.example/" ||
		strings.Join(public.queried, " ") != "foo.urn.arpa. NAPTR" || len(own.queried) != 1 {
		t.Errorf("%q, %v, asked %q and %q", locations(answer), err, public.queried, own.queried)
	}
}
