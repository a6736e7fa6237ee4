package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/urnd/urnd/resolver/registry"
)

// sealed is a version with the data from which its leaf is computed.
type sealed struct {
	registry.Entry
	salt, digest []byte
	places       []place // of its targets
}

// place holds the index columns of a target.
type place struct {
	host    int64 // host.id, 0 for none
	current int64 // name.id, 0 for none
}

// sealed returns the versions that a condition on their seq selects, in their order, except for purged ones and
// those without a name or author. %[1]s in the condition stands for the column of the seq. stray reports
// whether there are targets of other versions in the selection. The tables are read one after another, each in
// its own order, which takes half the time of a join.
func (t *transaction) sealed(where string, args ...any) (all []sealed, stray bool, err error) {
	var authors []int64
	err = t.conn.Query("SELECT v.seq, NULL, NULL, v.name, v.number, v.time, NULL, "+columnsBehindAuthor+
		", v.author, v.salt, v.digest FROM version v "+
		"WHERE v.name IS NOT NULL AND "+fmt.Sprintf(where, "v.seq")+" ORDER BY v.seq", func(row Row) error {
		c := columns{row, 0}
		e, err := scanEntry(&c)
		if err != nil {
			return err
		}
		authors = append(authors, c.int())
		all = append(all, sealed{
			Entry: e, salt: bytes.Clone(row.Bytes(c.next)),
			digest: bytes.Clone(row.Bytes(c.next + 1)),
		})
		return nil
	}, args...)
	if err != nil {
		return nil, false, err
	}
	if stray, err = t.sealedTargets(all, where, args); err != nil {
		return nil, false, err
	}
	ids := make([]int64, len(all))
	for i := range all {
		ids[i] = int64(all[i].First)
	}
	keys, err := t.keys(ids)
	if err != nil {
		return nil, false, err
	}
	names, err := t.authorNames(slices.Clone(authors))
	if err != nil {
		return nil, false, err
	}
	found := all[:0]
	for i := range all {
		key, ok := keys[int64(all[i].First)]
		name, known := names[authors[i]] // the name may be ""
		if ok && known {
			found = append(found, all[i])
			found[len(found)-1].Key, found[len(found)-1].By = key, name
		}
	}
	return found, stray, nil
}

// sealedTargets adds the targets of versions.
func (t *transaction) sealedTargets(all []sealed, where string, args []any) (stray bool, err error) {
	i, places := 0, make([]place, 0, len(all))
	err = t.conn.Query("SELECT t.version, t.host, t.current, "+targetColumns+" FROM target t WHERE "+
		fmt.Sprintf(where, "t.version")+
		" ORDER BY t.version, t.position", func(row Row) error {
		c := columns{row, 0}
		version := registry.Seq(c.int())
		for i < len(all) && all[i].Seq < version {
			i++
		}
		if i == len(all) || all[i].Seq != version {
			stray = true
			return nil
		}
		v := &all[i]
		places = append(places, place{host: c.int(), current: c.int()})
		v.places = places[len(places)-len(v.places)-1:]
		v.Targets = append(v.Targets, scanTarget(&c))
		return nil
	}, args...)
	return stray, err
}

// keys returns the keys of names by name.id.
func (t *transaction) keys(ids []int64) (map[int64]registry.Key, error) {
	keys := make(map[int64]registry.Key, len(ids))
	add := func(row Row) error {
		keys[row.Int(0)] = registry.Key{Kind: registry.Kind(row.Int(1)), Name: row.Text(2)} //nolint:gosec // 0 or 1, by a CHECK
		return nil
	}
	if len(ids) == 0 {
		return keys, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	// Ids are dense, as after an import: read the range.
	if first, last := ids[0], ids[len(ids)-1]; last-first < 2*int64(len(ids)) {
		return keys, t.conn.Query("SELECT id, kind, key FROM name WHERE id >= $1 AND id <= $2", add, first, last)
	}
	return keys, t.conn.Query("SELECT id, kind, key FROM name WHERE id IN ($1...)", add, ids)
}

// authorNames returns the names of authors by author.id.
func (t *transaction) authorNames(ids []int64) (map[int64]string, error) {
	slices.Sort(ids)
	names := make(map[int64]string)
	return names, t.conn.Query("SELECT id, name FROM author WHERE id IN ($1...)", func(row Row) error {
		names[row.Int(0)] = row.Text(1)
		return nil
	}, slices.Compact(ids))
}

// purgedVersion is the remainder of a purged version.
type purgedVersion struct {
	seq  registry.Seq
	leaf [digestSize]byte
}

func (t *transaction) purgedBetween(first, last registry.Seq) (all []purgedVersion, err error) {
	err = t.conn.Query("SELECT seq, digest FROM version WHERE seq >= $1 AND seq <= $2 AND name IS NULL ORDER BY seq",
		func(row Row) error {
			all = append(all, purgedVersion{registry.Seq(row.Int(0)), [digestSize]byte(padded(row.Bytes(1)))})
			return nil
		}, int64(first), int64(last))
	return all, err
}

// numbers are the versions and events from first to last.
type numbers struct {
	first, last registry.Seq
	versions    []sealed
	purged      []purgedVersion
	events      []registry.Event
	stray       bool // whether there are targets of other versions
}

// between returns the versions and events from first to last.
func (t *transaction) between(first, last registry.Seq) (n numbers, err error) {
	n.first, n.last = first, last
	n.versions, n.stray, err = t.sealed("%[1]s >= $1 AND %[1]s <= $2", int64(first), int64(last))
	if err == nil && len(n.versions) <= int(last-first) { // otherwise all are versions
		n.purged, err = t.purgedBetween(first, last)
		if err == nil {
			n.events, err = t.events(first-1, int(last-first+1))
		}
	}
	return n, err
}

// numbered is the row with a seq: exactly one of version, purged and event is set, or none if the row is
// missing.
type numbered struct {
	seq     registry.Seq
	version *sealed
	purged  *purgedVersion
	event   *registry.Event
}

// each calls f for each seq in ascending order.
func (n *numbers) each(f func(*numbered) error) error {
	versions, purged, events := n.versions, n.purged, n.events
	for seq := n.first; seq <= n.last; seq++ {
		n := numbered{seq: seq}
		switch {
		case len(versions) > 0 && versions[0].Seq == seq:
			n.version, versions = &versions[0], versions[1:]
		case len(purged) > 0 && purged[0].seq == seq:
			n.purged, purged = &purged[0], purged[1:]
		case len(events) > 0 && events[0].Seq == seq:
			n.event, events = &events[0], events[1:]
		}
		if err := f(&n); err != nil {
			return err
		}
	}
	return nil
}
