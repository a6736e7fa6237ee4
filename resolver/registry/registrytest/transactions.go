package registrytest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// A panic rolls a transaction back, and the store remains usable.
func testPanic(t *testing.T, s registry.Store) {
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.Write(t.Context(), func(tx registry.WriteTx) error {
			if err := Append(tx, entry("urn:example:a", 1)); err != nil {
				return err
			}
			mustNot("go on in a transaction")
			return nil
		})
	}()
	func() {
		defer func() { _ = recover() }()
		_ = s.Read(t.Context(), func(registry.Tx) error { mustNot("go on in a transaction"); return nil })
	}()
	if e := lookup(t, s, registry.Name("urn:example:a")); e.Exists() {
		t.Errorf("there is %+v after a panic", e)
	}
	in := appended(t, s, entry("urn:example:a", 1))
	if got := lookup(t, s, in[0].Key); !reflect.DeepEqual(got, in[0]) {
		t.Errorf("after a panic, looked up %+v, want %+v", got, in[0])
	}
}

// A transaction whose context ends is rolled back, and a canceled wait for it fails. The error is that of the
// context.
func testCancelled(t *testing.T, s registry.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, func(tx registry.WriteTx) error {
		if err := Append(tx, entry("urn:example:a", 1)); err != nil {
			return err
		}
		waiting, stop := context.WithCancel(ctx)
		stop()
		if err := s.Write(waiting,
			func(registry.WriteTx) error { t.Error("it did not wait"); return nil }); !errors.Is(err,
			context.Canceled) {
			t.Errorf("waiting for a writer in a context that ends: %v", err)
		}
		cancel()
		_, err := tx.Entries([]registry.Key{registry.Name("urn:example:a")})
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("writing in a context that ends: %v", err)
	}
	err = s.Write(ctx, func(registry.WriteTx) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("writing in a context that has ended: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = s.Read(ctx, func(tx registry.Tx) error {
		cancel()
		_, err := tx.List(registry.KindName, "", "", 10)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("reading in a context that ends: %v", err)
	}
	// The state of the context decides deterministically whether a transaction is committed.
	ctx, cancel = context.WithCancel(t.Context())
	err = s.Write(ctx, func(tx registry.WriteTx) error {
		defer cancel()
		return Append(tx, entry("urn:example:b", 1))
	})
	if is := lookup(t, s, registry.Name("urn:example:b")).Exists(); err == nil || is {
		t.Errorf("the context ended before the commit: %v; there: %v", err, is)
	}
	if e := lookup(t, s, registry.Name("urn:example:a")); e.Exists() {
		t.Errorf("there is %+v after a transaction that was broken off", e)
	}
	appended(t, s, entry("urn:example:a", 1))
}

// A reader that runs concurrently with a writer sees complete transactions, and the same snapshot throughout
// one Read.
func testSnapshotIsolation(t *testing.T, a, b registry.Store) {
	const rounds, names = 30, 20
	keys := make([]registry.Key, names)
	for i := range keys {
		keys[i] = registry.Name("urn:example:" + string(rune('a'+i)))
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for round := range rounds {
			err = errors.Join(err, a.Write(t.Context(),
				func(tx registry.WriteTx) error { return appendRound(tx, keys, round) }))
		}
		done <- err
	}()
	for {
		seesWhole(t, a, keys)
		seesWhole(t, b, keys)
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("writing: %v", err)
			}
			if last := seesWhole(t, b, keys); last != rounds {
				t.Errorf("the last version is %d, want %d", last, rounds)
			}
			return
		default:
		}
	}
}

// appendRound appends a version of each key, one by one; no reader may see a part of them.
func appendRound(tx registry.WriteTx, keys []registry.Key, round int) error {
	for _, key := range keys {
		if err := Append(tx, entry(key.Name, round+1)); err != nil {
			return err
		}
	}
	return nil
}

// seesWhole returns the common version of all keys.
func seesWhole(t *testing.T, s registry.Store, keys []registry.Key) (version int) {
	t.Helper()
	read(t, s, func(tx registry.Tx) error {
		first, err := tx.Entries(keys)
		if err != nil {
			return err
		}
		version = first[0].Version
		for _, e := range first {
			if e.Version != version {
				t.Errorf("half a transaction: %s has version %d, %s %d", e.Key, e.Version, first[0].Key, version)
			}
		}
		again, err := tx.Entries(keys)
		if err == nil && !reflect.DeepEqual(first, again) {
			t.Error("a transaction that reads saw a change")
		}
		return err
	})
	return version
}

// A write is visible to the next read on every connection.
func testSeen(t *testing.T, a, b registry.Store) {
	for version := 1; version <= 20; version++ {
		in := appended(t, a, entry("urn:example:a", version))[0]
		for _, s := range []registry.Store{a, b} {
			if got := lookup(t, s, in.Key); !reflect.DeepEqual(got, in) {
				t.Errorf("looked up %+v, want %+v", got, in)
			}
			if head, err := s.Head(t.Context()); head != in.Seq || err != nil {
				t.Errorf("the head is %d, %v; want %d", head, err, in.Seq)
			}
		}
	}
}

func mustNot(what string) { panic("this must not " + what) }
