// Package store is the store of the registry in SQL: one schema and one set of statements for the databases that its
// subpackages connect to. A Database runs statements within its transactions; New makes a registry.Store of it.
//
// The statements have parameters "$1", in any order, and "IN ($1...)" for one that is a list.
package store

import (
	"context"
	"sync"

	"github.com/urnd/urnd/resolver/registry"
)

// Store is what of a registry.Store is the same for all databases. It is safe for concurrent use.
type Store struct {
	db      Database
	lookups sync.Pool // of *looking
}

// New returns the Store in a database that has the schema of this version.
func New(db Database) *Store {
	s := &Store{db: db}
	s.lookups.New = func() any {
		l := new(looking)
		l.add, l.args = l.found.add, [2]any{int64(0), &l.name}
		return l
	}
	return s
}

// looking is what a lookup needs, which is used again: it is most of what is answered.
type looking struct {
	found entries
	add   func(Row) error
	name  string
	args  [2]any
}

const (
	// current are the tables of the current version of name n.
	current = " JOIN version v ON v.seq = n.version JOIN author a ON a.id = v.author LEFT JOIN target t ON t.version = v.seq "

	// lookup leaves the key out, which is known.
	lookup = "SELECT v.seq, n.kind, NULL, " + columnsBehindKey + " FROM name n" + current + "WHERE n.kind = $1 AND n.key = $2 ORDER BY t.position"
	floor  = "SELECT " + entryColumns + " FROM (SELECT * FROM name WHERE kind = 1 AND key <= $1 ORDER BY key DESC LIMIT 1) n" + current +
		"ORDER BY t.position"
	head = "SELECT max(last) FROM commits"
)

// Lookup implements registry.Store.
func (s *Store) Lookup(ctx context.Context, key registry.Key) (registry.Entry, error) {
	if registry.CheckKey(key.Name) != nil {
		return registry.Entry{}, nil //nolint:nilerr // it cannot be there
	}
	l, _ := s.lookups.Get().(*looking)
	l.name, l.args[0] = key.Name, int64(key.Kind)
	err := s.db.Lookup(ctx, lookup, l.add, l.args[:]...)
	e := l.found.one()
	if e.Exists() {
		e.Key = key
	}
	clear(l.found.all)
	l.found.all = l.found.all[:0]
	s.lookups.Put(l)
	if err != nil {
		return registry.Entry{}, err
	}
	return e, nil
}

// Floor implements registry.Store.
func (s *Store) Floor(ctx context.Context, text string) (registry.Entry, error) {
	if err := registry.CheckSought(text); err != nil {
		return registry.Entry{}, err
	}
	var found entries
	err := s.db.Lookup(ctx, floor, found.add, text)
	return found.one(), err
}

// Head implements registry.Store.
func (s *Store) Head(ctx context.Context) (last registry.Seq, err error) {
	err = s.db.Lookup(ctx, head, func(row Row) error {
		last = registry.Seq(row.Int(0))
		return nil
	})
	if err == nil {
		s.db.Known(last)
	}
	return last, err
}

// Read implements registry.Store.
func (s *Store) Read(ctx context.Context, f func(registry.Tx) error) error {
	return s.db.Read(ctx, func(c Conn) error { return f(&transaction{db: s.db, conn: c}) })
}

// Write implements registry.Store.
func (s *Store) Write(ctx context.Context, f func(registry.WriteTx) error) error {
	return s.db.Write(ctx, false, func(c Conn) error { return f(&transaction{db: s.db, conn: c}) })
}

// Bulk implements registry.Store.
func (s *Store) Bulk(ctx context.Context, f func(registry.WriteTx) error) error {
	return s.db.Write(ctx, true, func(c Conn) error { return f(&transaction{db: s.db, conn: c}) })
}

// transaction implements registry.WriteTx.
type transaction struct {
	db   Database
	conn Conn

	last    *link            // the last commit, once it was read or written
	authors map[string]int64 // that this transaction has read or written
	hosts   map[string]int64 // by reversed name
	hash    hasher
}
