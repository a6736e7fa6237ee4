// Package shelf stores values other than names in the registry's database, for several urnds: the
// certificates of their listeners. A key enters with its value, and the value leaves with the time at which
// it was stored. Locks are leases of the registry, by which one instance does a task for all. It implements
// no RFC; ACME (RFC 8555) is the task of its user.
package shelf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	// held is the duration of a lease, which bounds how long it outlives a killed instance.
	held = 30 * time.Second
	// page is the number of keys read in one batch.
	page = 1000
)

// KeyValue is a table of key-value pairs in a store. It is safe for concurrent use.
type KeyValue struct {
	store registry.Store
	table registry.Table
	now   func() time.Time
}

// value is the stored form of a value.
type value struct {
	At    time.Time `json:"at"`
	Value []byte    `json:"value"`
}

// New returns a KeyValue in a table of a store.
func New(store registry.Store, table registry.Table, now func() time.Time) *KeyValue {
	return &KeyValue{store, table, now}
}

// Get returns the value of a key, and the time at which it was stored. The error wraps fs.ErrNotExist if
// there is none.
func (s *KeyValue) Get(ctx context.Context, key string) (content []byte, at time.Time, err error) {
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
func (s *KeyValue) Put(ctx context.Context, key string, content []byte) error {
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

// Delete removes a key, and the keys that begin with it and a slash. A missing key is no error.
func (s *KeyValue) Delete(ctx context.Context, key string) error {
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

// Keys returns the keys with a prefix, in order.
func (s *KeyValue) Keys(ctx context.Context, prefix string) (keys []string, err error) {
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

// Lease returns two functions: acquire takes or renews a lease of the registry for half a minute, and reports
// whether it is held; release ends the lease. holder must be unique.
func (s *KeyValue) Lease(
	name, holder string,
) (acquire func(context.Context) (bool, error), release func(context.Context) error) {
	lease := &registry.Lease{Store: s.store, Name: "shelf " + name, Holder: holder, Duration: held, Now: s.now}
	return func(ctx context.Context) (bool, error) {
		err := lease.Acquire(ctx)
		if errors.Is(err, registry.ErrLease) {
			return false, nil
		}
		return err == nil, err
	}, lease.Release
}
