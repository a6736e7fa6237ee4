package store

import (
	"bytes"

	"github.com/urnd/urnd/resolver/registry"
)

// sealed is a version with what its leaf is made of.
type sealed struct {
	registry.Entry
	salt, digest []byte
	current      bool // whether it is the current version of its key
	misplaced    bool // whether a target is not found by its host
}

// sealed returns the versions that a condition on version v holds for, without those that were purged, in their order.
func (t *transaction) sealed(where string, args ...any) (all []sealed, err error) {
	var found entries
	err = t.conn.Query("SELECT "+entryColumns+", v.salt, v.digest, n.version, h.reversed FROM version v"+entryTables+
		"LEFT JOIN host h ON h.id = t.host WHERE "+where+" ORDER BY v.seq, t.position",
		func(row Row) error {
			if err := found.add(row); err != nil {
				return err
			}
			e := &found.all[len(found.all)-1]
			if len(found.all) > len(all) {
				all = append(all, sealed{
					salt: bytes.Clone(row.Bytes(found.width)), digest: bytes.Clone(row.Bytes(found.width + 1)), current: row.Int(found.width+2) == int64(e.Seq),
				})
			}
			if n := len(e.Targets); n > 0 && row.Text(found.width+3) != reverse(registry.HostOf(e.Targets[n-1].URI)) {
				all[len(all)-1].misplaced = true
			}
			return nil
		}, args...)
	for i := range all {
		all[i].Entry = found.all[i]
	}
	return all, err
}

// purgedVersion is what is left of a version that was purged.
type purgedVersion struct {
	seq  registry.Seq
	leaf [digestSize]byte
}

func (t *transaction) purgedBetween(first, last registry.Seq) (all []purgedVersion, err error) {
	err = t.conn.Query("SELECT seq, digest FROM version WHERE seq >= $1 AND seq <= $2 AND name IS NULL ORDER BY seq", func(row Row) error {
		all = append(all, purgedVersion{registry.Seq(row.Int(0)), [digestSize]byte(padded(row.Bytes(1)))})
		return nil
	}, int64(first), int64(last))
	return all, err
}

// numbered is what has a seq: one of version, purged and event, or none where that is missing.
type numbered struct {
	seq     registry.Seq
	version *sealed
	purged  *purgedVersion
	event   *registry.Event
}

// numbered calls f with what has the numbers from first to last, in their order.
func (t *transaction) numbered(first, last registry.Seq, f func(*numbered) error) error {
	versions, err := t.sealed("v.seq >= $1 AND v.seq <= $2", int64(first), int64(last))
	if err != nil {
		return err
	}
	purged, err := t.purgedBetween(first, last)
	if err != nil {
		return err
	}
	events, err := t.events(first-1, int(last-first+1))
	if err != nil {
		return err
	}
	for seq := first; seq <= last; seq++ {
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
