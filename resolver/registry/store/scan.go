package store

import (
	"fmt"
	"slices"

	"github.com/urnd/urnd/resolver/registry"
)

// A search by title or host scans names in order of registration, in pages, and filters them, so that no
// statement reads all names of a registry.

// Limits of a search.
const (
	scanPage   = 1000 // names per page
	maxScanned = 4000 // names per call
)

// scanQuery is a search that scans names.
type scanQuery struct {
	// next returns name.id of the next candidates behind one, in ascending order, at most scanPage.
	next func(behind int64) ([]int64, error)
	// fit filters candidates by id, fits by entry; nil filters nothing.
	fit  func(ids []int64) ([]int64, error)
	fits func(e *registry.Entry) bool
}

// scan returns at most limit matching entries of names that begin with below, behind the name after, in order
// of registration. last is the name at which to continue, "" at the end.
func (t *transaction) scan(
	s scanQuery, after, below string, limit int,
) (page []registry.Entry, last string, err error) {
	from, to, err := between(below, "")
	if err != nil {
		return nil, "", err
	}
	behind, err := t.continueAfter(after)
	if err != nil {
		return nil, "", err
	}
	for looked := 0; looked < maxScanned; looked += scanPage {
		ids, err := s.next(behind)
		if err != nil {
			return nil, "", err
		}
		isEnd := len(ids) < scanPage
		for len(ids) > 0 {
			n := min(len(ids), max(limit, 1)) // candidates behind the last wanted entry need not be read
			behind = ids[n-1]
			found, err := t.found(s, ids[:n], from, to)
			if err != nil {
				return nil, "", err
			}
			ids = ids[n:]
			if page = append(page, found...); len(page) >= limit {
				page = page[:limit]
				return page, page[limit-1].Name, nil
			}
		}
		if isEnd {
			return page, "", nil
		}
	}
	last, err = t.key(behind)
	return page, last, err
}

// found returns the matching entries among some names, if their keys are at least from and less than to.
func (t *transaction) found(s scanQuery, ids []int64, from, to string) (found []registry.Entry, err error) {
	if s.fit != nil {
		ids, err = s.fit(ids)
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	// kind + 0 keeps SQLite from using the index of kinds and keys, by which it would read all names in that
	// range.
	found, err = t.query("SELECT "+entryColumns+
		" FROM (SELECT * FROM name WHERE id IN ($1...) AND kind + 0 = 0 AND key >= $2 AND key < $3) n"+current+
		"ORDER BY n.id, t.position", ids, from, to)
	if s.fits != nil {
		found = slices.DeleteFunc(found, func(e registry.Entry) bool { return !s.fits(&e) })
	}
	return found, err
}

// continueAfter returns name.id of the name at which a list in order of registration continues, 0 for "".
func (t *transaction) continueAfter(after string) (int64, error) {
	if after == "" {
		return 0, nil
	}
	id, err := t.id(registry.Name(after))
	if err == nil && id == 0 {
		err = fmt.Errorf("%w: %s, the last entry of the previous page, was purged: restart the list",
			registry.ErrUnknown, after)
	}
	return id, err
}

// key returns the key of a name, "" if it is not registered.
func (t *transaction) key(id int64) (key string, err error) {
	err = t.conn.Query("SELECT key FROM name WHERE id = $1", func(row Row) error {
		key = row.Text(0)
		return nil
	}, id)
	return key, err
}
