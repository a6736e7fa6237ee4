package resolver_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// newAnswers returns a cache of answers in memory. change may modify its configuration.
func newAnswers(
	t testing.TB, now func() time.Time, change func(*cache.Config[resolver.Locations]),
) resolver.AnswerCache {
	t.Helper()
	store, err := memory.New(memory.Config[resolver.Locations]{
		MaxBytes: 1 << 20, Size: resolver.LocationsSize,
		GroupOf: resolver.NameOfKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	config := cache.Config[resolver.Locations]{
		Store: store, Now: now, StaleFor: time.Hour,
		RetryAfter: 30 * time.Second,
	}
	if change != nil {
		change(&config)
	}
	made := cache.New(config)
	t.Cleanup(made.Close)
	return resolver.AnswerCache{Cache: made, Entries: store, Variants: store.Keys}
}

// Lookup and Purge of a name include all services and resolution parameters, and no other name.
func TestLookupAndPurge(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, soft := range []bool{false, true} {
		answers := newAnswers(t, func() time.Time { return now }, nil)
		cached := resolver.NewCanonical(resolver.Names{Set: builtin(t), Accept: uri.CurrentURN},
			resolver.NewCached(answers.Cache,
				&stub{answer: located("http://1/", time.Minute)}, nil))
		ask := func(name string, service resolver.Service) resolver.CacheState {
			t.Helper()
			q := query(t, name)
			q.Service = service
			answer, err := cached.Resolve(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			return answer.Cache
		}
		names := []string{"URN:example:a", "urn:EXAMPLE:a?+r", "urn:example:a?c=x&s=I2L", "urn:example:a?=q#f"}
		others := []string{"urn:example:ab", "urn:example:a%20I2Ls", "urn:example:A", "urn:example:ab?+r", "cid:a?b"}
		for _, name := range append(names, others...) {
			ask(name, resolver.I2L)
			ask(name, resolver.I2Ls)
		}
		name := query(t, "urn:example:a").URI
		keys := func() (keys []string) {
			for _, e := range answers.Lookup(name) {
				keys = append(keys, e.Key)
			}
			return keys
		}
		want := []string{
			"urn:example:a", "urn:example:a I2Ls", "urn:example:a?+r", "urn:example:a?+r I2Ls",
			"urn:example:a?c=x", "urn:example:a?c=x I2Ls",
		}
		if got := keys(); !slices.Equal(got, want) {
			t.Errorf("lookup: %q", got)
		}
		purged := answers.Purge(resolver.Selection{Name: name}, soft)
		if len(purged) != len(want) ||
			slices.ContainsFunc(purged, func(other string) bool { return other != name.String() }) {
			t.Errorf("purged %q", purged)
		}
		if got := keys(); soft != (len(got) == len(want)) || !soft && len(got) != 0 {
			t.Errorf("after it, soft %t: %q", soft, got)
		}
		for _, name := range names[:3] {
			if state := ask(name, resolver.I2L); state != resolver.CacheMiss {
				t.Errorf("%s, soft %t: %s", name, soft, state)
			}
		}
		for _, name := range others {
			if state := ask(name, resolver.I2L); state != resolver.CacheHit {
				t.Errorf("%s, soft %t: %s", name, soft, state)
			}
		}
	}
}

func TestPurgeOfMany(t *testing.T) {
	for name, tt := range map[string]struct {
		selection resolver.Selection
		want      string
	}{
		"a namespace": {resolver.Selection{Namespace: "a"}, "urn:a:1 urn:a:1 urn:a:2"},
		"a prefix":    {resolver.Selection{Prefix: "urn:a:1"}, "urn:a:1 urn:a:1"},
		"all":         {resolver.Selection{All: true}, "urn:a:1 urn:a:1 urn:a:2 urn:ab:1"},
		"nothing":     {resolver.Selection{}, ""},
	} {
		answers := newAnswers(t, func() time.Time { return time.Unix(0, 0) }, nil)
		for _, key := range []string{"urn:a:1", "urn:a:1?+r I2Ls", "urn:a:2", "urn:ab:1"} {
			answers.Seed(key, resolver.Locations{{URI: "http://1/", From: &resolver.Source{}}}, time.Minute)
		}
		purged := answers.Purge(tt.selection, false)
		slices.Sort(purged)
		if got := strings.Join(purged, " "); got != tt.want || size(answers) != 4-len(purged) {
			t.Errorf("%s: purged %q, %d are left", name, got, size(answers))
		}
	}
}

// A "?" starts the resolution parameters of a URN, and is part of any other name.
func TestNameOfKey(t *testing.T) {
	for key, want := range map[string]string{
		"urn:a1:b": "", "urn:a1:b I2Ls": "urn:a1:b", "urn:a1:b?+c": "urn:a1:b", "urn:a1:b?c=x I2Ls": "urn:a1:b",
		"cid:a?b": "", "cid:a?b I2Ls": "cid:a?b", "cid:a": "", "http://a/?urn:a1:b": "",
	} {
		if got := resolver.NameOfKey(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

// The size of a negative answer includes its record, as for other answers.
func TestSizeOfNegatives(t *testing.T) {
	record := &resolver.Record{Name: "urn:example:a", Metadata: strings.Repeat("m", 10_000)}
	for _, next := range []*stub{
		{answer: resolver.Answer{Locations: []resolver.Location{{
			URI:  "http://a/",
			From: &resolver.Source{Record: record},
		}}, TTL: time.Hour}},
		{err: &resolver.Negative{Kind: resolver.ErrGone, Reason: "withdrawn", TTL: time.Hour, Record: record}},
	} {
		store, err := memory.New(memory.Config[resolver.Locations]{MaxBytes: 1 << 20, Size: resolver.LocationsSize})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		c := cache.New(cache.Config[resolver.Locations]{Store: store, Now: time.Now})
		defer c.Close()
		_, _ = resolver.NewCached(c, next, nil).Resolve(t.Context(), query(t, "urn:example:a"))
		if size := store.Stats().Bytes; size < 10_000 {
			t.Errorf("%+v takes %d bytes", next, size)
		}
	}
}
