// Package shelf keeps what several urnds share beside names in the database of the registry: the certificates of
// their listeners. A key enters with its value, and leaves with when it was kept. Locks are leases of the registry,
// so that one of the instances does what all of them would.
package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	// held is how long a lock outlives an instance that was killed. It is renewed thrice in that time.
	held = 30 * time.Second
	// page is how many keys are read at once.
	page = 1000
)

// Shelf is in one store. It is safe for concurrent use.
type Shelf struct {
	store    registry.Store
	table    registry.Table
	instance string
	now      func() time.Time

	mu    sync.Mutex
	count int // of locks that were asked for
	locks map[string]*lock
}

// lock is one that this instance has.
type lock struct {
	lease  *registry.Lease
	cancel context.CancelFunc
	done   chan struct{}
}

// value is how one is kept.
type value struct {
	At    time.Time `json:"at"`
	Value []byte    `json:"value"`
}

// New returns a shelf in a table of a store. instance identifies this instance and its run: no other one has it.
func New(store registry.Store, table registry.Table, instance string, now func() time.Time) *Shelf {
	return &Shelf{store: store, table: table, instance: instance, now: now, locks: make(map[string]*lock)}
}

// Get returns the value of a key, and when it was put there. The error wraps fs.ErrNotExist where there is none.
func (s *Shelf) Get(ctx context.Context, key string) (content []byte, at time.Time, err error) {
	var v value
	err = s.store.Read(ctx, func(tx registry.Tx) error {
		document, err := tx.Document(s.table, key)
		if err != nil {
			return err
		}
		if document == nil {
			return fs.ErrNotExist
		}
		return json.Unmarshal(document, &v)
	})
	if err != nil {
		return nil, at, fmt.Errorf("reading %s from the registry's database: %w", key, err)
	}
	return v.Value, v.At, nil
}

// Put sets the value of a key.
func (s *Shelf) Put(ctx context.Context, key string, content []byte) error {
	document, err := json.Marshal(value{s.now(), content})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", key, err)
	}
	err = s.store.Write(ctx, func(tx registry.WriteTx) error {
		return tx.Put(s.table, []registry.Document{{Key: key, Value: document}})
	})
	if err != nil {
		return fmt.Errorf("writing %s to the registry's database: %w", key, err)
	}
	return nil
}

// Delete removes a key, and those that begin with it and a slash. One that is not there is no error.
func (s *Shelf) Delete(ctx context.Context, key string) error {
	below, err := s.Keys(ctx, key+"/")
	if err != nil {
		return err
	}
	gone := []registry.Document{{Key: key}}
	for _, k := range below {
		gone = append(gone, registry.Document{Key: k})
	}
	if err := s.store.Write(ctx, func(tx registry.WriteTx) error { return tx.Put(s.table, gone) }); err != nil {
		return fmt.Errorf("removing %s from the registry's database: %w", key, err)
	}
	return nil
}

// Keys returns the keys that begin with a text, in their order.
func (s *Shelf) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.store.Read(ctx, func(tx registry.Tx) error {
		keys = nil
		for after := ""; ; after = keys[len(keys)-1] {
			documents, err := tx.Documents(s.table, prefix, after, page)
			if err != nil {
				return err
			}
			for i := range documents {
				keys = append(keys, documents[i].Key)
			}
			if len(documents) < page {
				return nil
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s in the registry's database: %w", prefix, err)
	}
	return keys, nil
}

// Lock waits until this call alone has a lock, and holds it until Unlock.
func (s *Shelf) Lock(ctx context.Context, name string) error {
	s.mu.Lock()
	s.count++
	lease := &registry.Lease{Store: s.store, Name: "shelf " + name, Holder: s.instance + " " + strconv.Itoa(s.count), For: held, Now: s.now}
	s.mu.Unlock()
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	for {
		err := lease.Acquire(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, registry.ErrLease) {
			return fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking %s: %w", name, ctx.Err())
		case <-retry.C:
		}
	}
	renewal, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &lock{lease, cancel, make(chan struct{})}
	go l.renew(renewal)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[name] = l
	return nil
}

// renew holds a lock. One that cannot be renewed is taken by another instance, which does the same again: nothing is
// lost.
func (l *lock) renew(ctx context.Context) {
	defer close(l.done)
	ticker := time.NewTicker(held / 3) //nolint:mnd // see held
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = l.lease.Acquire(ctx)
		}
	}
}

// Unlock gives a lock up.
func (s *Shelf) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	l := s.locks[name]
	delete(s.locks, name)
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	l.cancel()
	<-l.done
	return l.lease.Release(ctx)
}
