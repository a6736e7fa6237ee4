// Package registrytest is the suite that every store of the registry passes.
package registrytest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Run runs the suite. open returns a new connection to one store, which is empty at first; the suite
// closes it.
func Run(t *testing.T, open func(t *testing.T) func() registry.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s registry.Store)
	}{
		{"entries", testEntries},
		{"versions", testVersions},
		{"list", testList},
		{"floor", testFloor},
		{"changes", testChanges},
		{"documents", testDocuments},
		{"rollback", testRollback},
		{"purge", testPurge},
		{"panic", testPanic},
		{"cancelled", testCancelled},
		{"texts", testTexts},
		{"refused", testRefused},
		{"nothing", testNothing},
		{"order", testOrder},
		{"many", testMany},
		{"verify", testVerify},
		{"equal records", testSame},
		{"purged", testPurged},
		{"redacted", testRedacted},
		{"tree", testTree},
		{"forked", testForked},
		{"sets", testSets},
		{"set of a purge", testPurgeSet},
		{"hosts", testHosts},
		{"renamed", testRenamed},
		{"portable backup", testPortable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)()
			defer closeStore(t, s)
			c.test(t, s)
		})
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, a, b registry.Store)
	}{
		{"two writers", testTwo},
		{"whole transactions", testWhole},
		{"seen at once", testSeen},
	} {
		t.Run(c.name, func(t *testing.T) {
			connect := open(t)
			a, b := connect(), connect()
			defer closeStore(t, a)
			defer closeStore(t, b)
			c.test(t, a, b)
		})
	}
}

func closeStore(t *testing.T, s registry.Store) {
	if err := s.Close(); err != nil {
		t.Errorf("closing the store: %v", err)
	}
}

var epoch = time.UnixMilli(1_900_000_000_123).UTC()

// entry returns a new version of a name.
func entry(name string, version int, prev registry.Seq) registry.Entry {
	return registry.Entry{
		Key: registry.Name(name), Version: version, Prev: prev, Changed: epoch.Add(time.Duration(version) * time.Hour), By: "test",
		Record: registry.Record{
			Since:   epoch,
			Targets: []registry.Target{{URI: fmt.Sprintf("https://example.org/%d", version), Priority: -3, From: epoch}},
		},
	}
}

// write writes in a transaction that must not fail.
func write(t *testing.T, s registry.Store, f func(tx registry.WriteTx) error) {
	t.Helper()
	if err := s.Write(t.Context(), f); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// appended appends entries, and returns them with their Seq.
func appended(t *testing.T, s registry.Store, entries ...registry.Entry) []registry.Entry {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error { return registry.Append(tx, entries) })
	return entries
}

// read reads in a transaction that must not fail.
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
