package valkey_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

func (i *instance) objects() *valkey.Objects {
	return valkey.NewObjects(valkey.ObjectsConfig{Level: i.level, Name: "objects", Basis: "1", Purged: about})
}

// putObject stores an object, and returns when the server has it.
func (i *instance) putObject(store cache.StoreFunc, place, subject string, ttl time.Duration) {
	i.t.Helper()
	before := i.level.Stats().Writes
	store(place, subject, ttl, 100, func() []byte { return []byte("bytes of " + place) })
	i.await(func(s valkey.Stats) bool { return s.Writes > before })
}

func TestObjects(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	ours, theirs := a.objects(), b.objects()
	if _, ok := theirs.Get(t.Context(), "place"); ok {
		t.Error("there is something where nothing was stored")
	}
	a.putObject(ours.Begin(), "place", "subject", time.Minute)
	var found cache.Object
	until(t, func() (ok bool) {
		found, ok = theirs.Get(t.Context(), "place")
		return ok
	})
	if string(found.Payload) != "bytes of place" || found.Age < 0 || found.Age > time.Minute/2 ||
		found.Age+found.TTL != time.Minute {
		t.Errorf("b has found %+v", found)
	}
	if keys := keysOf(server); len(keys) != 2 { // the log and the entry, but no lease
		t.Errorf("the server has %q", keys)
	}
	theirs.Delete("place")
	until(t, func() bool { return len(keysOf(server)) == 1 })
	if _, ok := ours.Get(t.Context(), "place"); ok {
		t.Error("a deleted value is found")
	}
}

// An object is not used if its load began before a purge that selects its subject.
func TestObjectsAndPurges(t *testing.T) {
	server := testserver.StartRedis(t)
	a, b := used(t, server.Addr(), nil), used(t, server.Addr(), nil)
	ours, theirs := a.objects(), b.objects()
	early := ours.Begin()
	a.putObject(ours.Begin(), "one", "x:1", time.Minute)
	a.putObject(ours.Begin(), "two", "x:2", time.Minute)
	p := valkey.Purge{Kind: "name", Text: "x:1"}
	if err := b.purge(p); err != nil {
		t.Fatal(err)
	}
	isThere := func(place string) bool {
		_, ok := theirs.Get(t.Context(), place)
		return ok
	}
	// A purged object is deleted when it is found. On a slow machine the query may time out, so it is repeated.
	isDeleted := func() bool {
		if isThere("one") {
			t.Fatal("a value loaded before the purge is used")
		}
		return len(keysOf(server)) == 2
	}
	until(t, isDeleted)
	until(t, func() bool { return isThere("two") })
	a.putObject(early, "one", "x:1", time.Minute)
	until(t, isDeleted)
	until(t, func() bool { return a.level.Position().Number == 2 })
	a.putObject(ours.Begin(), "one", "x:1", time.Minute)
	until(t, func() bool { return isThere("one") }) // loaded after the purge
}

func (i *instance) all() []valkey.Purge {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.purges)
}

func TestPoisonedObjects(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	ours := a.objects()
	a.putObject(ours.Begin(), "place", "subject", time.Minute)
	server.Do("SET", entryKey(t, server), strings.Repeat("x", 100), "PX", "60000")
	until(t, func() bool {
		if _, ok := ours.Get(t.Context(), "place"); ok {
			t.Fatal("an unsealed value is used")
		}
		return len(keysOf(server)) == 1
	})
	if s := a.level.Stats(); s.Foreign < 1 {
		t.Errorf("it counts %+v", s)
	}
}

// A restarted instance is told only the purges since it ended, unless these are not known.
func TestPosition(t *testing.T) {
	server := testserver.StartRedis(t)
	a := used(t, server.Addr(), nil)
	before, after := valkey.Purge{Kind: "name", Text: "before"}, valkey.Purge{Kind: "name", Text: "after"}
	if err := a.purge(before); err != nil {
		t.Fatal(err)
	}
	b := used(t, server.Addr(), nil)
	text, err := json.Marshal(b.level.Position()) // as it is saved
	if err != nil {
		t.Fatal(err)
	}
	var position valkey.Position
	if err := json.Unmarshal(text, &position); err != nil {
		t.Fatal(err)
	}
	b.level.Close()
	if err := a.purge(after); err != nil {
		t.Fatal(err)
	}
	kinds := func(at valkey.Position) (all []string) {
		i := used(t, server.Addr(), func(c *valkey.Config) { c.Position = at })
		for _, p := range i.all() {
			all = append(all, p.Kind+" "+p.Text)
		}
		return all
	}
	for _, test := range []struct {
		name   string
		at     valkey.Position
		purges []string
	}{
		{"where it was", position, []string{"name after"}},
		{"nowhere", valkey.Position{}, []string{"everything "}},
		{
			"another log",
			valkey.Position{Epoch: "other", Number: position.Number, Tag: position.Tag},
			[]string{"everything "},
		},
		{
			"another entry",
			valkey.Position{Epoch: position.Epoch, Number: position.Number, Tag: strings.Repeat("0", 32)},
			[]string{"everything "},
		},
		{
			"behind the end",
			valkey.Position{Epoch: position.Epoch, Number: position.Number + 9, Tag: position.Tag},
			[]string{"everything "},
		},
		{"forgotten", valkey.Position{Epoch: position.Epoch, Number: 0, Tag: position.Tag}, []string{"everything "}},
	} {
		if got := kinds(test.at); !slices.Equal(got, test.purges) {
			t.Errorf("%s: %q, want %q", test.name, got, test.purges)
		}
	}
}
