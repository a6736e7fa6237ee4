package sqlite

import (
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/urnd/urnd/resolver/registry"
)

// currentEntry is the question for the current entry of a key.
const currentEntry = "SELECT v.seq, v.prev, v.rec FROM names n JOIN versions v ON v.seq = n.seq WHERE n.kind = ? AND n.name = ?"

// lookup returns the current entry of a key. It is what a look-up costs, so it does without all
// that query does for other questions.
func (c *conn) lookup(key registry.Key) (e registry.Entry, err error) {
	s := c.current
	if err := s.BindInt64(1, int64(key.Kind)); err != nil {
		return registry.Entry{}, c.fault(err)
	}
	if err := s.BindText(2, key.Name); err != nil {
		return registry.Entry{}, c.fault(err)
	}
	if s.Step() {
		e.Key, e.Seq, e.Prev = key, registry.Seq(s.ColumnInt64(0)), registry.Seq(s.ColumnInt64(1))
		if err := registry.Decode(&e, s.ColumnRawBlob(2)); err != nil {
			_ = s.Reset()
			return registry.Entry{}, c.fault(err)
		}
	}
	return e, c.finish(s)
}

// Entries implements registry.Tx.
func (c *conn) Entries(keys []registry.Key) ([]registry.Entry, error) {
	entries := make([]registry.Entry, len(keys))
	if len(keys) >= rowsAtOnce && slices.IsSortedFunc(keys, compareKeys) {
		return entries, c.sorted(keys, entries)
	}
	for i, key := range keys {
		var err error
		if entries[i], err = c.lookup(key); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func compareKeys(a, b registry.Key) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	return strings.Compare(a.Name, b.Name)
}

// sorted looks sorted keys up. Many of them together are often new, so that one question whether
// there is anything between the first and the last one answers for all: it is asked for all, and
// then for rowsAtOnce at a time.
func (c *conn) sorted(keys []registry.Key, entries []registry.Entry) error {
	some, err := c.anyBetween(keys[0], keys[len(keys)-1])
	if err != nil || !some {
		return err
	}
	for i := 0; i < len(keys); i += rowsAtOnce {
		part := keys[i:min(i+rowsAtOnce, len(keys))]
		if some, err = c.anyBetween(part[0], part[len(part)-1]); err != nil {
			return err
		}
		if !some {
			continue
		}
		for j, key := range part {
			if entries[i+j], err = c.lookup(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// anyBetween reports whether there is an entry from first to last, both included.
func (c *conn) anyBetween(first, last registry.Key) (is bool, err error) {
	err = c.query("SELECT 1 FROM names WHERE (kind, name) >= (?, ?) AND (kind, name) <= (?, ?) LIMIT 1", func(*sqlite3.Stmt) error {
		is = true
		return nil
	}, int64(first.Kind), first.Name, int64(last.Kind), last.Name)
	return is, err
}
