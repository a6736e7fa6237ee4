package registry

import (
	"encoding/binary"
	"fmt"
	"time"
)

// PurgeKeys removes all versions of keys, but for the hashes of their leaves, and writes that they were purged. Registry.Purge does it
// for those who may, and knows what else must change with them.
func PurgeKeys(tx WriteTx, keys []Key) error {
	_, err := write(tx, nil, keys, ChangeSet{})
	return err
}

// purge is the event of a purge.
type purge struct {
	versions   []Seq // that were purged
	at         time.Time
	by, reason string
	kept       []keptSet // of which the first version was purged
}

// purgeRow returns the event of a purge of versions by a change set.
func purgeRow(seq Seq, key Key, versions []Seq, kept []keptSet, set *ChangeSet) Row {
	w := writer{b: []byte{formatPurge}}
	w.number(uint64(len(versions)))
	for _, v := range versions {
		w.number(uint64(v)) //nolint:gosec // it is positive
	}
	w.b = binary.AppendVarint(w.b, set.Time.UnixMilli())
	w.text(set.By)
	w.text(set.Note)
	w.number(uint64(len(kept)))
	for _, k := range kept {
		w.number(uint64(k.number)) //nolint:gosec // it is positive
		w.text(k.digest)
	}
	return Row{Seq: seq, Key: key, Octets: w.b}
}

// purge returns the event that a row is, if it is one of a purge.
func (r *Row) purge() (found purge, is bool) {
	if len(r.Octets) == 0 || r.Octets[0] != formatPurge {
		return purge{}, false
	}
	rd := reader{b: string(r.Octets[1:])}
	for range rd.count() {
		found.versions = append(found.versions, Seq(rd.number())) //nolint:gosec // only purgeRow writes it
	}
	if rd.b != "" && !rd.bad { // the first ones did not say who purged
		found.at, found.by, found.reason = rd.time(), rd.text(), rd.text()
		for range rd.count() {
			found.kept = append(found.kept, keptSet{Seq(rd.number()), rd.text()}) //nolint:gosec // only purgeRow writes it
		}
	}
	return found, !rd.left()
}

// purgeVersions removes all versions of a key, but for the hashes of their leaves, and returns which there were, the newest first, and the
// change sets that began with one of them.
func purgeVersions(tx WriteTx, key Key) (versions []Seq, kept []keptSet, err error) {
	var rows []Row
	for before := Seq(0); ; {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range page {
			row, err := rowAt(tx, e.Seq)
			if err != nil {
				return nil, nil, err
			}
			switch k, is, err := keepSet(tx, e.Seq); {
			case err != nil:
				return nil, nil, err
			case is:
				kept = append(kept, k)
			}
			if row, err = row.purged(); err != nil {
				return nil, nil, err
			}
			rows, versions = append(rows, row), append(versions, e.Seq)
			before = e.Seq
		}
		if len(page) < versionsPage {
			return versions, kept, tx.Rewrite(rows)
		}
	}
}

// rowAt returns the row of a Seq.
func rowAt(tx Tx, seq Seq) (Row, error) {
	rows, err := tx.Rows(seq-1, 1)
	if err == nil && (len(rows) == 0 || rows[0].Seq != seq) {
		err = fmt.Errorf("%w: number %d is missing", ErrDamaged, seq)
	}
	if err != nil {
		return Row{}, err
	}
	return rows[0], nil
}
