// Package store implements the registry's store in SQL: one schema and one set of statements, shared by the
// databases in packages sqlite and postgres. A Database, which runs statements within its transactions, enters
// through New; a registry.Store leaves. The schema and the chain of SHA-256 digests are specified in
// docs/registry-schema.md, portable backups in dumpline.go.
//
// Statements have parameters "$1", in any order, and "IN ($1...)" for a parameter that is a list.
package store

import (
	"context"
	"sync"

	"github.com/urnd/urnd/resolver/registry"
)

// Store implements registry.Store on a Database. It is safe for concurrent use.
type Store struct {
	db      Database
	lookups sync.Pool // of *looking
}

// New returns the Store in a database that has the current schema.
func New(db Database) *Store {
	s := &Store{db: db}
	s.lookups.New = func() any {
		l := new(lookupState)
		l.add, l.args = l.found.add, [2]any{int64(0), &l.name}
		return l
	}
	return s
}

// lookupState is the reusable state of a lookup. Lookups are pooled since they are the bulk of all requests.
type lookupState struct {
	found entries
	add   func(Row) error
	name  string
	args  [2]any
}

const (
	// current joins the tables of the current version to name n.
	current = " JOIN version v ON v.seq = n.version JOIN author a ON a.id = v.author LEFT JOIN target t ON " +
		"t.version = v.seq "

	// lookup does not select the key, which is known.
	lookup = "SELECT v.seq, n.kind, NULL, " + columnsBehindKey + " FROM name n" + current +
		"WHERE n.kind = $1 AND n.key = $2 ORDER BY t.position"
	floor = "SELECT " + entryColumns +
		" FROM (SELECT * FROM name WHERE kind = 1 AND key <= $1 ORDER BY key DESC LIMIT 1) n" + current +
		"ORDER BY t.position"
	head = "SELECT max(last) FROM commits"
)

// Lookup implements registry.Store.
func (s *Store) Lookup(ctx context.Context, key registry.Key) (registry.Entry, error) {
	if registry.CheckKey(key.Name) != nil {
		return registry.Entry{}, nil //nolint:nilerr // such a key cannot exist
	}
	l, _ := s.lookups.Get().(*lookupState)
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
	if err := registry.CheckSearchText(text); err != nil {
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

	last    *link            // last commit, once it was read or written
	authors map[string]int64 // author.id by name, of authors that this transaction read or wrote
	hosts   map[string]int64 // host.id by reversed name
	hash    hasher
}
