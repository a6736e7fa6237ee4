package ddds

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/resolver"
)

const (
	staleFor   = time.Hour
	retryAfter = time.Minute
	name       = "foo.urn.arpa."
)

func newCached(t *testing.T, c *clock, next Lookuper) *Cached {
	t.Helper()
	return NewCached(newRecords(t, c), next, Bounds{})
}

// newRecords returns a cache of record sets in memory.
func newRecords(t testing.TB, c *clock) *cache.Cache[Records] {
	t.Helper()
	store, err := memory.New(memory.Config[Records]{MaxBytes: 1 << 20, Size: RecordsSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	made := cache.New(cache.Config[Records]{Store: store, Now: c.now, StaleFor: staleFor, RetryAfter: retryAfter})
	t.Cleanup(made.Close)
	return made
}

// expectNAPTR looks up the records of name, and compares them.
func expectNAPTR(t *testing.T, c *Cached, s *script, want []NAPTR, ttl time.Duration, requested int) {
	t.Helper()
	got, info, err := c.NAPTR(t.Context(), name)
	if !slices.Equal(got, want) || info.TTL != ttl || err != nil || len(s.queried) != requested {
		t.Errorf("got %v for %v, %v after %d questions; want %v for %v after %d", got, info.TTL, err, len(s.queried),
			want, ttl, requested)
	}
}

// expectMissing looks up the records of name, and expects a negative answer.
func expectMissing(t *testing.T, c *Cached, s *script, ttl time.Duration, requested int) {
	t.Helper()
	got, info, err := c.NAPTR(t.Context(), name)
	expectNegative(t, err, resolver.ErrNotFound, ttl, "no such name")
	if got != nil || info.TTL != 0 || len(s.queried) != requested {
		t.Errorf("got %v for %v after %d questions, want none after %d", got, info.TTL, len(s.queried), requested)
	}
}

func expectFailure(t *testing.T, c *Cached, s *script, want error, requested int) {
	t.Helper()
	got, info, err := c.NAPTR(t.Context(), name)
	if !errors.Is(err, want) || got != nil || info.TTL != 0 || len(s.queried) != requested {
		t.Errorf("got %v for %v, %v after %d questions; want %v after %d", got, info.TTL, err, len(s.queried),
			want, requested)
	}
}

func missing(ttl time.Duration) set {
	return set{err: &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no such name", TTL: ttl}}
}

func TestCachedTTL(t *testing.T) {
	var now clock
	old, fresh := []NAPTR{to(1, 1, "a.")}, []NAPTR{to(1, 1, "b.")}
	s := &script{sets: map[string]set{name + " NAPTR": {naptr: old, ttl: 10 * time.Second}}}
	c := newCached(t, &now, s)
	expectNAPTR(t, c, s, old, 10*time.Second, 1)
	now.advance(4 * time.Second)
	s.sets[name+" NAPTR"] = set{naptr: fresh, ttl: time.Minute}
	expectNAPTR(t, c, s, old, 6*time.Second, 1)
	now.advance(6 * time.Second)
	expectNAPTR(t, c, s, fresh, time.Minute, 2)
}

func TestCachedByNameAndType(t *testing.T) {
	var now clock
	naptr, srv := []NAPTR{to(1, 1, "a.")}, []SRV{{1, 2, 3, "a."}}
	s := &script{sets: map[string]set{
		name + " NAPTR":       {naptr: naptr, ttl: time.Minute},
		name + " SRV":         {srv: srv, ttl: time.Hour},
		"bar.urn.arpa. NAPTR": {naptr: naptr[:0], ttl: time.Second},
	}}
	c := newCached(t, &now, s)
	for _, requested := range []int{1, 3} {
		expectNAPTR(t, c, s, naptr, time.Minute, requested)
		got, info, err := c.SRV(t.Context(), name)
		if !slices.Equal(got, srv) || info.TTL != time.Hour || err != nil {
			t.Errorf("got %v for %s, %v", got, info.TTL, err)
		}
		if got, info, err := c.NAPTR(t.Context(), "bar.urn.arpa."); len(got) > 0 || info.TTL != time.Second ||
			err != nil {
			t.Errorf("got %v for %s, %v", got, info.TTL, err)
		}
	}
	if len(s.queried) != 3 {
		t.Errorf("asked for %q", s.queried)
	}
}

func TestCachedNegative(t *testing.T) {
	var now clock
	s := &script{sets: map[string]set{name + " NAPTR": missing(time.Minute)}}
	c := newCached(t, &now, s)
	expectMissing(t, c, s, time.Minute, 1)
	now.advance(50 * time.Second)
	expectMissing(t, c, s, 10*time.Second, 1)
	now.advance(5 * time.Second)
	expectMissing(t, c, s, 5*time.Second, 1)
	now.advance(5 * time.Second)
	records := []NAPTR{to(1, 1, "a.")}
	s.sets[name+" NAPTR"] = set{naptr: records, ttl: time.Hour}
	expectNAPTR(t, c, s, records, time.Hour, 2)
}

// Without an SOA record a negative answer is not cached (RFC 2308 section 5).
func TestCachedNegativeWithoutTTL(t *testing.T) {
	var now clock
	s := &script{sets: map[string]set{name + " NAPTR": missing(0)}}
	c := newCached(t, &now, s)
	expectMissing(t, c, s, 0, 1)
	expectMissing(t, c, s, 0, 2)
}

func TestCachedStoresNoFailure(t *testing.T) {
	var now clock
	down := errors.New("server is down")
	s := &script{sets: map[string]set{name + " NAPTR": {err: down}}}
	c := newCached(t, &now, s)
	expectFailure(t, c, s, down, 1)
	expectFailure(t, c, s, down, 2)
	records := []NAPTR{to(1, 1, "a.")}
	s.sets[name+" NAPTR"] = set{naptr: records, ttl: time.Hour}
	expectNAPTR(t, c, s, records, time.Hour, 3)
}

// Stale records are used while no server answers, with a short TTL.
func TestCachedStale(t *testing.T) {
	var now clock
	down := errors.New("server is down")
	records := []NAPTR{to(1, 1, "a.")}
	s := &script{sets: map[string]set{name + " NAPTR": {naptr: records, ttl: time.Minute}}}
	c := newCached(t, &now, s)
	expectNAPTR(t, c, s, records, time.Minute, 1)
	now.advance(2 * time.Minute)
	s.sets[name+" NAPTR"] = set{err: down}
	expectNAPTR(t, c, s, records, staleTTL, 2)
	expectNAPTR(t, c, s, records, staleTTL, 2) // until retryAfter
	now.advance(retryAfter)
	expectNAPTR(t, c, s, records, staleTTL, 3)
	now.advance(staleFor)
	expectFailure(t, c, s, down, 4)
}

// Any answer of the zone replaces the cached one (RFC 8767 section 4), even one that must not be cached itself.
func TestCachedStaleReplaced(t *testing.T) {
	down := errors.New("server is down")
	records, later := []NAPTR{to(1, 1, "a.")}, []NAPTR{to(1, 1, "b.")}
	for _, answer := range []set{missing(0), {naptr: later, ttl: 0}} {
		var now clock
		s := &script{sets: map[string]set{name + " NAPTR": {naptr: records, ttl: time.Minute}}}
		c := newCached(t, &now, s)
		expectNAPTR(t, c, s, records, time.Minute, 1)
		now.advance(2 * time.Minute)
		s.sets[name+" NAPTR"] = answer
		if answer.err != nil {
			expectMissing(t, c, s, 0, 2)
		} else {
			expectNAPTR(t, c, s, later, 0, 2)
		}
		s.sets[name+" NAPTR"] = set{err: down}
		expectFailure(t, c, s, down, 3)
	}
}

func TestCachedIsTraced(t *testing.T) {
	var now clock
	s := &script{sets: map[string]set{name + " NAPTR": {naptr: []NAPTR{to(1, 1, "a.")}, ttl: time.Minute}}}
	c := newCached(t, &now, s)
	ctx, trace := resolver.WithTrace(t.Context(), now.now)
	for range 2 {
		if _, _, err := c.NAPTR(ctx, name); err != nil {
			t.Fatal(err)
		}
		now.advance(10 * time.Second)
	}
	if got, want := details(trace, "dns"),
		[]string{"foo.urn.arpa. NAPTR from the cache, 10s old, ttl 50s, 1 record, not authenticated"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecordsSize(t *testing.T) {
	size := 0
	for _, r := range []Records{
		{naptr: []NAPTR{{}}},
		{naptr: []NAPTR{{Flags: "u", Services: "thttp", Regexp: "!a!b!", Replacement: "."}}},
		{naptr: make([]NAPTR, 2)},
		{naptr: make([]NAPTR, 2), srv: make([]SRV, 1)},
		{naptr: make([]NAPTR, 2), srv: []SRV{{Target: "a.example."}}},
	} {
		if got := RecordsSize(r); got <= size {
			t.Errorf("%+v: %d bytes, and less held %d", r, got, size)
		} else {
			size = got
		}
	}
	if got := RecordsSize(Records{}); got != 0 {
		t.Errorf("nothing: %d bytes", got)
	}
}
