// Package registrytest is the conformance suite for implementations of registry.Store. A function that opens an
// empty database enters, and failures of the test leave. It checks the contract of registry.Store, and no RFC.
package registrytest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Database is a database, which is initially empty.
type Database struct {
	// Connect returns a new connection to a store in the database. The suite closes it.
	Connect func() registry.Store
	// Exec runs an SQL statement in the database, bypassing the store. An error of the database is ignored.
	Exec func(statement string)
}

// Run runs the suite.
func Run(t *testing.T, open func(t *testing.T) Database) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s registry.Store)
	}{
		{"entries", testEntries},
		{"versions", testVersions},
		{"before", testBefore},
		{"list", testList},
		{"floor", testFloor},
		{"changes", testChanges},
		{"documents", testDocuments},
		{"resolved", testResolved},
		{"health", testHealth},
		{"tokens", testTokens},
		{"counters and leases", testCountersAndLeases},
		{"rollback", testRollback},
		{"purge", testPurge},
		{"panic", testPanic},
		{"cancelled", testCancelled},
		{"texts", testTexts},
		{"refused", testRefused},
		{"goes on", testGoesOn},
		{"nothing", testNothing},
		{"order", testOrder},
		{"many", testMany},
		{"equal records", testSame},
		{"times", testTimes},
		{"events", testEvents},
		{"events behind purged ones", testEventsBehindPurged},
		{"set of a purge", testPurgeSet},
		{"hosts", testHosts},
		{"titles", testTitles},
		{"pages of titles", testTitlePages},
		{"statuses", testStatuses},
		{"aliases", testAliases},
		{"totals", testTotals},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t).Connect()
			defer closeStore(t, s)
			c.test(t, s)
		})
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, a, b registry.Store)
	}{
		{"two writers", testConcurrentStores},
		{"whole transactions", testSnapshotIsolation},
		{"seen at once", testSeen},
	} {
		t.Run(c.name, func(t *testing.T) {
			database := open(t)
			a, b := database.Connect(), database.Connect()
			defer closeStore(t, a)
			defer closeStore(t, b)
			c.test(t, a, b)
		})
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, a, b registry.Store)
	}{{"dump", testDump}, {"damaged dump", testDamagedDump}} {
		t.Run(c.name, func(t *testing.T) {
			a, b := open(t).Connect(), open(t).Connect()
			defer closeStore(t, a)
			defer closeStore(t, b)
			c.test(t, a, b)
		})
	}
	t.Run("verify", func(t *testing.T) { testVerify(t, open) })
}

func closeStore(t *testing.T, s registry.Store) {
	if err := s.Close(); err != nil {
		t.Errorf("closing the store: %v", err)
	}
}

var epoch = time.UnixMilli(1_900_000_000_123).UTC()

// entry returns a version of a name.
func entry(name string, version int) registry.Entry {
	return registry.Entry{
		Key: registry.Name(name), Version: version, Changed: epoch.Add(time.Duration(version) * time.Hour), By: "test",
		Record: registry.Record{
			Since: epoch,
			Targets: []registry.Target{{
				URI: fmt.Sprintf("https://example.org/%d", version), Priority: -3,
				From: epoch,
			}},
		},
	}
}

// Append appends versions as one change set, and sets their Seq.
func Append(tx registry.WriteTx, entries ...registry.Entry) error {
	keys := make([]registry.Key, len(entries))
	for i := range entries {
		keys[i] = entries[i].Key
	}
	before, err := tx.Entries(keys)
	if err != nil {
		return err
	}
	current := make(map[registry.Key]registry.Entry, len(entries))
	for i := range entries {
		current[keys[i]] = before[i]
	}
	changes := make([]registry.Changed, len(entries))
	for i, e := range entries {
		changes[i] = registry.Changed{Before: current[e.Key], After: e}
		current[e.Key] = e
	}
	if err := tx.Append(&registry.ChangeSet{By: "test", Time: epoch}, changes, nil); err != nil {
		return err
	}
	for i := range entries {
		entries[i] = changes[i].After
	}
	return nil
}

// Purge purges all versions of keys, as one change set.
func Purge(tx registry.WriteTx, keys ...registry.Key) error {
	entries, err := tx.Entries(keys)
	if err != nil {
		return err
	}
	return tx.Append(&registry.ChangeSet{Kind: registry.KindPurge, By: "anna", Note: "over", Time: epoch}, nil, entries)
}

func purge(t *testing.T, s registry.Store, keys ...registry.Key) {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error { return Purge(tx, keys...) })
}

// write runs a write transaction that must succeed.
func write(t *testing.T, s registry.Store, f func(tx registry.WriteTx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// appended appends entries, and returns them with their Seq.
func appended(t *testing.T, s registry.Store, entries ...registry.Entry) []registry.Entry {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error { return Append(tx, entries...) })
	return entries
}

// read runs a read transaction that must succeed.
func read(t *testing.T, s registry.Store, f func(tx registry.Tx) error) {
	t.Helper()
	if err := s.Read(t.Context(), f); err != nil {
		t.Fatalf("reading: %v", err)
	}
}

func lookup(t *testing.T, s registry.Store, key registry.Key) registry.Entry {
	t.Helper()
	e, err := s.Lookup(context.WithoutCancel(t.Context()), key)
	if err != nil {
		t.Fatalf("looking up %s: %v", key, err)
	}
	return e
}
