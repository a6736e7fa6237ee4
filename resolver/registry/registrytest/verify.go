package registrytest

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// verified returns the faults that Verify finds.
func verified(t *testing.T, s registry.Store) string {
	t.Helper()
	var faults []string
	last := registry.Seq(0)
	err := registry.Verify(t.Context(), s, func(fault string) { faults = append(faults, fault) }, func(done, all registry.Seq) {
		if done < last || done > all {
			t.Errorf("progress: %d of %d after %d", done, all, last)
		}
		last = done
	})
	if err != nil {
		t.Errorf("verifying: %v", err)
	}
	return strings.Join(faults, "\n")
}

// put changes records by a batch, as all do who write.
func put(t *testing.T, s registry.Store, key registry.Key, record registry.Record) {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error {
		b := registry.NewBatch(tx, "test", epoch)
		if _, _, err := b.Put(key, record, ""); err != nil {
			return err
		}
		_, err := b.Flush()
		return err
	})
}

// Verify finds nothing in what batches wrote, and what is wrong by its name.
func testVerify(t *testing.T, s registry.Store) {
	if got := verified(t, s); got != "" {
		t.Errorf("an empty store: %s", got)
	}
	key := registry.Name("urn:example:a")
	for i := range 250 {
		put(t, s, key, registry.Record{Contact: time.Duration(i).String()})
	}
	put(t, s, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	put(t, s, registry.Prefix("urn:example:"), registry.Record{Authoritative: true})
	put(t, s, registry.Name("https://example.org/"), registry.Record{Status: registry.Reserved})
	if got := verified(t, s); got != "" {
		t.Errorf("a sound store: %s", got)
	}
	write(t, s, func(tx registry.WriteTx) error {
		last := lookup(t, s, key)
		return registry.Append(tx, []registry.Entry{
			{Key: registry.Name("urn:example:lost"), Version: 1, Changed: epoch},                                             // not counted
			{Key: registry.Name("urn:example:gap"), Version: 7, Prev: last.Seq - 1, Changed: epoch},                          // of another name
			{Key: registry.Name("urn:example:first"), Version: 1, Prev: 0, Changed: epoch},                                   // right
			{Key: registry.Name("urn:example:jump"), Version: 1, Changed: epoch},                                             // right, but
			{Key: registry.Name("urn:example:jump"), Version: 3, Changed: epoch},                                             // one is missing
			{Key: registry.Name("urn:example:alias2"), Version: 1, Changed: epoch, Record: registry.Record{Alias: key.Name}}, // not known
		})
	})
	write(t, s, func(tx registry.WriteTx) error {
		return tx.Put(registry.TableAliases, []registry.Document{{Key: "urn:example:none urn:example:a", Value: []byte{}}})
	})
	got := verified(t, s)
	for _, want := range []string{
		"urn:example: the totals say", "urn:example:gap", "urn:example:jump: number", "urn:example:alias2: it is an alias",
		"urn:example:none: urn:example:a is known as an alias",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among the faults:\n%s", want, got)
		}
	}
	for _, sound := range []string{"urn:example:first", "urn:example:a:", "https:"} {
		if strings.Contains(got, sound) {
			t.Errorf("%q is among the faults:\n%s", sound, got)
		}
	}
}

// A record that is put again makes no version, also with its times in another zone, or finer than they
// are stored.
func testSame(t *testing.T, s registry.Store) {
	key := registry.Name("urn:example:a")
	record := func(from time.Time) registry.Record {
		return registry.Record{Targets: []registry.Target{{URI: "https://example.org/", From: from}}}
	}
	put(t, s, key, record(epoch))
	put(t, s, key, record(epoch.In(time.FixedZone("", 7200)).Add(time.Microsecond)))
	if e := lookup(t, s, key); e.Version != 1 {
		t.Errorf("an equal record made version %d", e.Version)
	}
	put(t, s, key, record(epoch.Add(time.Second)))
	if e := lookup(t, s, key); e.Version != 2 {
		t.Errorf("another record made version %d, want 2", e.Version)
	}
}
