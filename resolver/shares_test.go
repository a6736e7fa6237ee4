package resolver_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

func TestShares(t *testing.T) {
	busy, full := errors.New("busy"), errors.New("full")
	a, b, c := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	quota := resolver.Quota{Slots: make(resolver.Slots, 4), Shares: resolver.NewShares(2, 2, busy), Busy: full}
	var releases []func()
	acquire := func(client netip.Addr, want error) {
		t.Helper()
		release, err := quota.Acquire(client)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", client, err, want)
		}
		if err == nil {
			releases = append(releases, release)
		}
	}
	acquire(a, nil)
	acquire(a, nil)
	acquire(a, busy)
	acquire(b, nil)
	acquire(b, nil)
	acquire(c, full)
	acquire(netip.Addr{}, full)
	releases[0]()
	acquire(b, busy)
	acquire(netip.Addr{}, nil) // it has no share
	acquire(a, full)
	for _, release := range releases[1:] {
		release()
	}
	for range 2 { // what was not acquired was not released either
		acquire(c, nil)
	}
	acquire(c, busy)
	var none *resolver.Shares
	if release, err := none.Acquire(a); err != nil || release == nil {
		t.Errorf("without shares: %v", err)
	}
}

// Of IPv6 an address has a share, and its /64 a larger one: a neighbour leaves some of it, and a host with many addresses
// takes no more. IPv4 addresses have no network, also in the form of IPv6 (RFC 4291 section 2.5.5.2).
func TestSharesOfNetworks(t *testing.T) {
	busy := errors.New("busy")
	shares := resolver.NewShares(2, 3, busy)
	var releases []func()
	for i, tt := range []struct {
		client string
		want   error
	}{
		{"2001:db8::1", nil},
		{"2001:db8::1", nil},
		{"2001:db8::1", busy}, // its own share
		{"2001:db8::2", nil},  // a neighbour
		{"2001:db8::2", busy}, // that of the network
		{"2001:db8:0:0:ffff::9", busy},
		{"2001:db8:0:1::1", nil}, // another network
		{"192.0.2.1", nil},
		{"192.0.2.1", nil},
		{"192.0.2.1", busy},
		{"::ffff:192.0.2.2", nil},
		{"::ffff:192.0.2.2", nil},
		{"::ffff:192.0.2.3", nil},
		{"::ffff:192.0.2.4", nil},
	} {
		release, err := shares.Acquire(netip.MustParseAddr(tt.client))
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%d, %s: %v, want %v", i, tt.client, err, tt.want)
		}
		if err == nil {
			releases = append(releases, release)
		}
	}
	for _, release := range releases {
		release()
	}
	for _, client := range []string{"2001:db8::3", "2001:db8::3", "2001:db8::4"} { // what was not acquired was not released either
		if _, err := shares.Acquire(netip.MustParseAddr(client)); err != nil {
			t.Errorf("%s: %v", client, err)
		}
	}
	if _, err := shares.Acquire(netip.MustParseAddr("2001:db8::5")); !errors.Is(err, busy) {
		t.Errorf("beyond the share of the network: %v", err)
	}
}

// A client with its share of slow names gets no other, except those of the cache and of local
// rules; other clients do.
func TestShareOfNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := errors.New("busy")
		slots := make(resolver.Slots, 4)
		end := make(chan struct{})
		slow := resolver.Limit{Slots: slots, Next: resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
			if q.NID() != "slow" {
				return resolver.Answer{}, unsupported("not slow", time.Hour)
			}
			<-end
			return located("http://slow/", time.Hour), nil
		})}
		chain, err := resolver.NewChain(resolver.ChainConfig{
			Members: []resolver.Member{{Name: "slow", Resolver: slow}, {Name: "local", Resolver: &stub{answer: located("http://local/", time.Hour)}}},
			Order:   []string{"slow", "local"}, Orders: map[string][]string{"local": {"local"}}, Unknown: resolver.ErrNotFound,
		})
		if err != nil {
			t.Fatal(err)
		}
		answers := newAnswers(t, time.Now, nil)
		cached := resolver.NewCached(answers.Cache, chain, resolver.NewShares(2, 2, busy))
		one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		ask := func(name string, client netip.Addr) error {
			q := query(t, name)
			q.Client = client
			_, err := cached.Resolve(t.Context(), q)
			return err
		}
		for _, name := range []string{"urn:slow:1", "urn:slow:2"} {
			go func() { _ = ask(name, one) }()
		}
		synctest.Wait()
		joined := make(chan error, 1) // who waits for what is loaded already takes no slot
		go func() { joined <- ask("urn:slow:1", one) }()
		synctest.Wait()
		for _, tt := range []struct {
			name   string
			client netip.Addr
			want   error
		}{
			{"urn:slow:3", one, busy},
			{"urn:other:1", one, busy},
			{"urn:local:1", one, nil},
			{"urn:other:1", other, nil},
			{"urn:other:1", one, nil}, // it is cached now
		} {
			if err := ask(tt.name, tt.client); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
		}
		close(end)
		synctest.Wait()
		if err := <-joined; err != nil {
			t.Errorf("who waited: %v", err)
		}
		if err := ask("urn:slow:3", one); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// What is cached needs no share: also where it expires soon, or is stale and cannot be loaded.
func TestCachedNamesNeedNoShare(t *testing.T) {
	busy := errors.New("busy")
	now := time.Unix(1000, 0)
	answers := newAnswers(t, func() time.Time { return now }, func(c *cache.Config[resolver.Locations]) { c.RefreshAhead = true })
	shares := resolver.NewShares(1, 1, busy)
	next := resolver.Limit{Slots: make(resolver.Slots, 9), Next: &stub{answer: located("http://a/", 100*time.Second)}}
	cached := resolver.NewCached(answers.Cache, next, shares)
	q := query(t, "urn:example:a")
	q.Client = netip.MustParseAddr("192.0.2.1")
	if _, err := cached.Resolve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	release, err := shares.Acquire(q.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, tt := range []struct {
		after time.Duration
		state resolver.CacheState
		err   error
	}{
		{50 * time.Second, resolver.CacheHit, nil},
		{95 * time.Second, resolver.CacheHit, nil},
		{200 * time.Second, resolver.CacheStale, nil},
		{24 * time.Hour, 0, busy},
	} {
		now = time.Unix(1000, 0).Add(tt.after)
		if answer, err := cached.Resolve(t.Context(), q); answer.Cache != tt.state || !errors.Is(err, tt.err) {
			t.Errorf("after %s: %s, %v", tt.after, answer.Cache, err)
		}
	}
}

// How names were takes a share: it is not cached.
func TestShareOfHistory(t *testing.T) {
	busy := errors.New("busy")
	client := netip.MustParseAddr("192.0.2.1")
	shares := resolver.NewShares(1, 1, busy)
	next := resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
		if _, err := shares.Acquire(client); !errors.Is(err, busy) {
			t.Errorf("the client has another slot: %v", err)
		}
		return located("http://then/", time.Hour), nil
	})
	c := resolver.NewCached(newAnswers(t, time.Now, nil).Cache, next, shares)
	q := query(t, "urn:example:a")
	q.At, q.Client = time.Unix(1, 0), client
	for range 2 {
		if _, err := c.Resolve(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	if _, err := shares.Acquire(client); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resolve(t.Context(), q); !errors.Is(err, busy) {
		t.Errorf("without a share: %v", err)
	}
}
