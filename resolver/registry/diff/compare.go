package diff

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// Iterator iterates one of two registries: each call returns the next entry, prefixes first, then names, each in
// byte order; io.EOF after the last one.
type Iterator func() (Entry, error)

// Entry is an entry of a registry, or of a file.
type Entry struct {
	registry.Entry
	// Override applies an entry of a file to the record of the other registry: fields that the file omits keep
	// their values. nil means that the record is complete.
	Override func(other registry.Record) registry.Record
}

func (e *Entry) override(other registry.Record) registry.Entry {
	entry := e.Entry
	if e.Override != nil {
		entry.Record = e.Override(other)
	}
	entry.Version = max(entry.Version, 1) // it exists
	return entry
}

// entriesPage is the number of entries read in one batch.
const entriesPage = 1000

// NewIterator returns the entries of a store in the snapshot of a transaction.
func NewIterator(tx registry.Tx) Iterator {
	kind, after := registry.KindPrefix, ""
	var page []registry.Entry
	last := false
	return func() (Entry, error) {
		for len(page) == 0 {
			if last {
				if kind == registry.KindName {
					return Entry{}, io.EOF
				}
				kind, after = registry.KindName, ""
			}
			var err error
			if page, err = tx.List(kind, "", after, entriesPage); err != nil {
				return Entry{}, err
			}
			if last = len(page) < entriesPage; len(page) > 0 {
				after = page[len(page)-1].Name
			}
		}
		e := page[0]
		page = page[1:]
		return Entry{Entry: e}, nil
	}
}

// Compare calls f with each name that is in only one of two registries, or differs, in order. It holds one
// entry of each in memory.
func Compare(first, second Iterator, f func(registry.Changed) error) error {
	a, moreA, err := next(first)
	if err != nil {
		return err
	}
	b, moreB, err := next(second)
	for err == nil && (moreA || moreB) {
		order := orderOf(&a, &b, moreA, moreB)
		if change, is := differing(&a, &b, order); is {
			err = f(change)
		}
		if err == nil && order <= 0 {
			a, moreA, err = next(first)
		}
		if err == nil && order >= 0 {
			b, moreB, err = next(second)
		}
	}
	return err
}

func next(s Iterator) (e Entry, more bool, err error) {
	if e, err = s(); errors.Is(err, io.EOF) {
		return e, false, nil
	}
	return e, err == nil, err
}

// orderOf compares the positions of two entries.
func orderOf(a, b *Entry, moreA, moreB bool) int {
	switch {
	case !moreA:
		return 1
	case !moreB:
		return -1
	}
	return cmp.Or(cmp.Compare(b.Kind, a.Kind), strings.Compare(a.Name, b.Name)) // prefixes first
}

// differing returns the difference of two entries, by their order; the result is false if their records are
// equal.
func differing(a, b *Entry, order int) (c registry.Changed, is bool) {
	switch {
	case order < 0:
		return registry.Changed{Before: a.override(registry.Record{}), After: registry.Entry{Key: a.Key}}, true
	case order > 0:
		return registry.Changed{After: b.override(registry.Record{})}, true
	}
	c = registry.Changed{Before: a.override(b.Record), After: b.override(a.Record)}
	return c, len(field.Differences(c.Before.Record, c.After.Record)) > 0
}
