package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/upstream"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

func parse(t testing.TB, text string) uri.URI {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// servers returns proxies with these names; a weight may follow a "*".
func servers(t testing.TB, names ...string) (all []upstream.Server) {
	t.Helper()
	for _, name := range names {
		name, weight, _ := strings.Cut(name, "*")
		s := upstream.Server{
			URL:      parse(t, "http://"+name+".example:3128"),
			Upstream: &schemehttp.Upstream{Scheme: "http", Address: name},
		}
		_, _ = fmt.Sscan(weight, &s.Weight)
		all = append(all, s)
	}
	return all
}

type clock struct{ atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1_800_000_000, c.Load()) }

func newSelector(t testing.TB, c *clock, rules ...upstream.Rule) *upstream.Selector {
	t.Helper()
	s, err := upstream.New(upstream.Config{Rules: rules, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ways returns the proxies tried for a target, in order, if those in failing fail.
func ways(t testing.TB, s *upstream.Selector, target string, failing ...string) string {
	t.Helper()
	route := s.Route(parse(t, target))
	if route == nil {
		return "direct"
	}
	var tried []string
	for {
		u, ok := route.Next()
		switch {
		case !ok:
			return strings.Join(append(tried, "none"), " ")
		case u == nil:
			return strings.Join(append(tried, "direct"), " ")
		}
		tried = append(tried, u.Address)
		if !strings.Contains(strings.Join(failing, " "), u.Address) {
			return strings.Join(tried, " ")
		}
		route.Failed(u, errors.New("connection refused"))
	}
}

// TestOrder: proxies are tried in order. One that could not be connected to is skipped for 30 seconds if there
// is an alternative.
func TestOrder(t *testing.T) {
	const target = "http://www.example/"
	for _, tt := range []struct {
		direct             bool
		failing, now, then string
	}{
		{false, "", "a", "a"},
		{false, "a", "a b", "b"},
		{false, "a b", "a b c", "c"},
		{false, "a b c", "a b c none", "a"},
		{true, "a", "a b", "b"},
		{true, "a b c", "a b c direct", "direct"},
	} {
		var c clock
		s := newSelector(t, &c, upstream.Rule{
			Servers: servers(t, "a", "b", "c"), Direct: tt.direct,
			Method: balance.Failover,
		})
		if got := ways(t, s, target, tt.failing); got != tt.now {
			t.Errorf("%q fail: %s, want %s", tt.failing, got, tt.now)
		}
		if got := ways(t, s, target); got != tt.then {
			t.Errorf("%q have failed: %s, want %s", tt.failing, got, tt.then)
		}
		c.Add(int64(31 * time.Second))
		if got := ways(t, s, target); got != "a" {
			t.Errorf("%q have failed a while ago: %s", tt.failing, got)
		}
		failures := int64(0)
		for _, status := range s.Status() {
			failures += status.Failures
		}
		if want := int64(len(strings.Fields(tt.failing))); failures != want {
			t.Errorf("%q fail: %d are counted", tt.failing, failures)
		}
	}
}

// TestRules: the first rule with a matching host applies, even if it has no proxies.
func TestRules(t *testing.T) {
	s := newSelector(t, new(clock),
		upstream.Rule{Hosts: []string{".intranet.example", "192.0.2.0/24"}},
		upstream.Rule{Hosts: []string{".example"}, Servers: servers(t, "a")},
		upstream.Rule{Servers: servers(t, "b")})
	for target, want := range map[string]string{
		"http://a.intranet.example/": "direct", "https://192.0.2.7:8443/": "direct", "http://A.EXAMPLE./": "a",
		"https://www.test/": "b", "urn:a:b": "b",
	} {
		if got := ways(t, s, target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	if _, err := upstream.New(upstream.Config{
		Rules: []upstream.Rule{{Hosts: []string{"a b"}}},
		Now:   new(clock).now,
	}); err == nil {
		t.Error("a host that is none is taken")
	}
}

// TestMethods: requests are distributed by weight, or by a hash of the host or the URL.
func TestMethods(t *testing.T) {
	share := func(s *upstream.Selector, target func(i int) string) map[string]int {
		counts := make(map[string]int)
		for i := range 300 {
			counts[ways(t, s, target(i))]++
		}
		return counts
	}
	page := func(i int) string { return fmt.Sprintf("http://www.example/%d", i) }
	host := func(i int) string { return fmt.Sprintf("http://%d.example/", i) }
	turn := newSelector(t, new(clock), upstream.Rule{Servers: servers(t, "a*2", "b"), Method: balance.RoundRobin})
	if got := share(turn, page); got["a"] != 200 || got["b"] != 100 {
		t.Errorf("in turn: %v", got)
	}
	byURL := newSelector(t, new(clock),
		upstream.Rule{Servers: servers(t, "a", "b"), Method: balance.Hash, HashKey: upstream.ByURL})
	if got := share(byURL, page); len(got) != 2 {
		t.Errorf("by URL: %v", got)
	}
	if one := share(byURL, func(int) string { return page(7) }); len(one) != 1 {
		t.Errorf("one URL: %v", one)
	}
	byHost := newSelector(t, new(clock),
		upstream.Rule{Servers: servers(t, "a", "b"), Method: balance.Hash, HashKey: upstream.ByHost})
	if one := share(byHost, page); len(one) != 1 {
		t.Errorf("one host: %v", one)
	}
	if got := share(byHost, host); len(got) != 2 {
		t.Errorf("by host: %v", got)
	}
}

// TestFailures: with the failures of another Selector, a proxy that could not be connected to there is skipped.
func TestFailures(t *testing.T) {
	var c clock
	failures := upstream.NewFailures(c.now)
	for i, want := range []string{"a b", "b c"} {
		s, err := upstream.New(upstream.Config{
			Rules:    []upstream.Rule{{Servers: servers(t, "a", "b", "c"), Method: balance.Failover}},
			Failures: failures, Now: c.now,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := ways(t, s, "http://www.example/", want[:1]); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestProbes: a proxy whose probes fail gets no requests until they succeed again.
func TestProbes(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	s, err := upstream.New(upstream.Config{
		Rules: []upstream.Rule{{Servers: servers(t, "a", "b"), Method: balance.Failover, Interval: time.Millisecond}},
		Now:   time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.SetProbe(func(_ context.Context, u *schemehttp.Upstream) error {
		if u.Address == "a" && broken.Load() {
			return errors.New("connection refused")
		}
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	testserver.Wait(t, "the first one is down", func() bool { return ways(t, s, "http://www.example/") == "b" })
	next, err := upstream.New(upstream.Config{
		Rules: []upstream.Rule{{
			Servers: servers(t, "c", "a", "b"), Method: balance.RoundRobin, Interval: time.Hour, Previous: s.Pool(0),
		}},
		Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if got := ways(t, next, "http://www.example/"); got == "a" {
			t.Error("after a reload the first one gets requests before it is probed")
		}
	}
	broken.Store(false)
	testserver.Wait(t, "the first one is up again", func() bool { return ways(t, s, "http://www.example/") == "a" })
	if got := ways(t, s, "http://www.example/", "a"); got != "a b" {
		t.Errorf("it fails: %s", got)
	}
	testserver.Wait(t, "a probe ends that it is left out",
		func() bool { return ways(t, s, "http://www.example/") == "a" })
	cancel()
	<-ended
}
