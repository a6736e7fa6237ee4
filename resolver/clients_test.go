package resolver_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
)

// A client that has reached its quota of slow names gets no other name, except from the cache and from local
// rules; other clients are not affected.
func TestClientsOfNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := errors.New("busy")
		slots := make(quota.Semaphore, 4)
		end := make(chan struct{})
		slow := resolver.Limit{
			Semaphore: slots,
			Next: resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
				if q.NID() != "slow" {
					return resolver.Answer{}, unsupported("not slow", time.Hour)
				}
				<-end
				return located("http://slow/", time.Hour), nil
			}),
		}
		chain, err := resolver.NewChain(resolver.ChainConfig{
			Members: []resolver.Member{
				{Name: "slow", Resolver: slow},
				{Name: "local", Resolver: &stub{answer: located("http://local/", time.Hour)}},
			},
			Order: []string{"slow", "local"}, Orders: map[string][]string{"local": {"local"}},
			Unknown: resolver.ErrNotFound,
		})
		if err != nil {
			t.Fatal(err)
		}
		answers := newAnswers(t, time.Now, nil)
		cached := resolver.NewCached(answers.Cache, chain, quota.NewClientLimits(2, 2, busy))
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
		joined := make(chan error, 1) // a query that joins a load takes no slot
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
			t.Errorf("waiting client: %v", err)
		}
		if err := ask("urn:slow:3", one); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A cache hit needs no permit, even if the entry expires soon, or is stale and cannot be reloaded.
func TestCachedNamesNeedNoPermit(t *testing.T) {
	busy := errors.New("busy")
	now := time.Unix(1000, 0)
	answers := newAnswers(t, func() time.Time { return now },
		func(c *cache.Config[resolver.Locations]) { c.RefreshAhead = true })
	clients := quota.NewClientLimits(1, 1, busy)
	next := resolver.Limit{
		Semaphore: make(quota.Semaphore, 9),
		Next:      &stub{answer: located("http://a/", 100*time.Second)},
	}
	cached := resolver.NewCached(answers.Cache, next, clients)
	q := query(t, "urn:example:a")
	q.Client = netip.MustParseAddr("192.0.2.1")
	if _, err := cached.Resolve(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	permit, err := clients.Acquire(q.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer permit.Release()
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

// A query as of a time takes a permit, since it is not cached.
func TestClientsOfHistory(t *testing.T) {
	busy := errors.New("busy")
	client := netip.MustParseAddr("192.0.2.1")
	clients := quota.NewClientLimits(1, 1, busy)
	next := resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
		if _, err := clients.Acquire(client); !errors.Is(err, busy) {
			t.Errorf("client got another slot: %v", err)
		}
		return located("http://then/", time.Hour), nil
	})
	c := resolver.NewCached(newAnswers(t, time.Now, nil).Cache, next, clients)
	q := query(t, "urn:example:a")
	q.At, q.Client = time.Unix(1, 0), client
	for range 2 {
		if _, err := c.Resolve(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	if _, err := clients.Acquire(client); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resolve(t.Context(), q); !errors.Is(err, busy) {
		t.Errorf("without a per-client limit: %v", err)
	}
}
