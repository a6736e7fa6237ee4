package stored_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/slp"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// newStore returns a cache, and its store.
func newStore[V any](t *testing.T, size func(V) int, groupOf func(string) string) (*cache.Cache[V], *memory.Store[V]) {
	t.Helper()
	store, err := memory.New(memory.Config[V]{MaxBytes: 1 << 20, Size: size, GroupOf: groupOf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	c := cache.New(cache.Config[V]{Store: store, Now: time.Now})
	t.Cleanup(c.Close)
	return c, store
}

// newAnswers returns the answers of some names, and the recorded steps of a purge, in order.
func newAnswers(t *testing.T) (answers stored.Answers, did *[]string) {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	all, entries := newStore(t, resolver.LocationsSize, resolver.NameOfKey)
	servers, _ := newStore(t, slp.ServersSize, nil)
	did = new([]string)
	for _, key := range []string{"urn:isbn:0395363411", "urn:example:a", "urn:example:b", "http://a.example/"} {
		all.Seed(key, resolver.Locations{{URI: "http://b.example/", From: &resolver.Source{}}}, time.Hour)
	}
	for _, nid := range []string{"example", "isbn"} {
		servers.Seed(nid, slp.Servers{"http://c.example/"}, time.Hour)
	}
	return stored.Answers{
		Names:   resolver.Names{Set: set, Accept: uri.CurrentURN},
		Answers: resolver.AnswerCache{Cache: all, Entries: entries, Variants: entries.Keys},
		URNs:    ddds.New(ddds.Config{Roots: []string{"urn.arpa."}}),
		Servers: slp.New(slp.Config{Cache: servers, Now: time.Now}),
		PurgeRecords: func(has func(key string) bool) {
			var keys []string
			for _, key := range []string{"example.urn.arpa. NAPTR", "isbn.urn.arpa. NAPTR", "a.example. A"} {
				if has(key) {
					keys = append(keys, strings.TrimSuffix(key, " NAPTR"))
				}
			}
			*did = append(*did, "records "+strings.Join(keys, ","))
		},
		PurgeDiscovered: func() { *did = append(*did, "all servers") },
		StopSaving:      func() { *did = append(*did, "stop") },
		RemoveSnapshot:  func() error { *did = append(*did, "saved"); return nil },
		Metrics: func() []metrics.Cache {
			return []metrics.Cache{{
				Name: "answers", Lookups: map[string]uint64{"hit": 1}, Evictions: 2, Entries: 3,
				Bytes: 4,
			}}
		},
	}, did
}

// A hard purge also purges the sources of the answers: all sources for all names, otherwise those of the name
// or namespace. The snapshot is removed last, and not saved meanwhile.
func TestPurge(t *testing.T) {
	for name, tt := range map[string]struct {
		selection resolver.Selection
		soft      bool
		count     int
		did       string
		servers   string // namespaces whose servers are purged
	}{
		"all": {
			resolver.Selection{All: true},
			false, 4,
			"stop; records example.urn.arpa.,isbn.urn.arpa.,a.example. A; all servers; saved", "",
		},
		"all, soft": {resolver.Selection{All: true}, true, 4, "stop; saved", ""},
		"a name": {
			resolver.Selection{Name: parsed(t, "URN:ISBN:0-395-36341-1")},
			false, 1,
			"stop; saved", "isbn",
		},
		"a name, soft":    {resolver.Selection{Name: parsed(t, "urn:example:a")}, true, 1, "stop; saved", ""},
		"one without one": {resolver.Selection{Name: parsed(t, "urn:example:c")}, false, 0, "stop; saved", "example"},
		"a URL":           {resolver.Selection{Name: parsed(t, "HTTP://a.example")}, false, 1, "stop; saved", ""},
		"a namespace": {
			resolver.Selection{Namespace: "example"},
			false, 2,
			"stop; records example.urn.arpa.; saved", "example",
		},
		"a prefix": {resolver.Selection{Prefix: "urn:example:"}, false, 2, "stop; saved", "example"},
	} {
		a, did := newAnswers(t)
		count, err := a.Purge(t.Context(), tt.selection, tt.soft)
		if got := strings.Join(*did, "; "); err != nil || count != tt.count || got != tt.did {
			t.Errorf("%s: %d, %v: %s", name, count, err, got)
		}
		var purged []string
		for _, nid := range []string{"example", "isbn"} {
			if !a.Servers.Purge(nid) { // it was purged before
				purged = append(purged, nid)
			}
		}
		if got := strings.Join(purged, " "); got != tt.servers {
			t.Errorf("%s: the servers of %q are purged", name, got)
		}
	}
	a, did := newAnswers(t)
	if count, err := a.Purge(t.Context(), resolver.Selection{Name: parsed(t, "urn:isbn:1")}, false); !errors.As(err,
		new(*uri.ParseError)) || count != 0 || len(*did) > 0 {
		t.Errorf("an invalid name: %d, %v, %q", count, err, *did)
	}
	full := errors.New("the disk is full")
	a.RemoveSnapshot = func() error { return full }
	if count, err := a.Purge(t.Context(), resolver.Selection{All: true}, true); !errors.Is(err, full) || count != 4 {
		t.Errorf("a snapshot that stays: %d, %v", count, err)
	}
}

// Administrators see the cached entries of a name, in any spelling, and the state of all caches.
func TestLookup(t *testing.T) {
	a, _ := newAnswers(t)
	no := &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "nobody knows it"}
	_, _ = a.Answers.Get(t.Context(), "urn:example:no",
		func(context.Context) (resolver.Locations, time.Duration, error) { return nil, time.Hour, no })
	for text, want := range map[string]string{
		"URN:ISBN:0-395-36341-1": "urn:isbn:0395363411 http://b.example/ ",
		"http://A.example:80":    "http://a.example/ http://b.example/ ",
		"urn:example:no":         "urn:example:no  " + no.Error(),
		"urn:example:c":          "",
	} {
		entries, err := a.Lookup(parsed(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := strings.Join(shown(entries), "|"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if entries, err := a.Lookup(parsed(t, "urn:isbn:1")); !errors.As(err, new(*uri.ParseError)) || entries != nil {
		t.Errorf("an invalid name: %v, %v", entries, err)
	}
	if got := fmt.Sprint(a.Stats()); got != "map[caches:map[answers:{map[hit:1] 2 3 4}]]" {
		t.Errorf("%s", got)
	}
}

func shown(entries []api.Entry) (all []string) {
	for _, e := range entries {
		location := ""
		if len(e.Locations) > 0 {
			location = e.Locations[0].URI
		}
		all = append(all, e.Key+" "+location+" "+e.Reason)
	}
	return slices.Sorted(slices.Values(all))
}

func parsed(t *testing.T, text string) uri.URI {
	t.Helper()
	u, err := uri.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
