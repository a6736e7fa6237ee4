package store

import "github.com/urnd/urnd/resolver/registry"

// purgePage is how many versions of a name are read per statement.
const purgePage = 1000

// purge removes all versions of an entry except for their leaves, writes the event with the given seq, and
// returns the leaf of the event.
func (t *transaction) purge(
	seq registry.Seq, set *registry.ChangeSet, e *registry.Entry,
) (leaf [digestSize]byte, err error) {
	t.conn.Erased()
	event := registry.Event{Key: e.Key, Seq: seq, Kind: registry.KindPurge, By: set.By, Note: set.Note, Time: set.Time}
	if err := t.insertEvent(&event); err != nil {
		return leaf, err
	}
	for {
		page, _, err := t.sealed("%[1]s IN (SELECT seq FROM version WHERE seq = $1 AND name = $1 UNION ALL "+
			"SELECT seq FROM (SELECT seq FROM version WHERE name = $1 AND number > 1 ORDER BY number LIMIT $2) "+
			"further)", int64(e.First), int64(purgePage))
		if err != nil {
			return leaf, err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			event.Affected = append(event.Affected, page[i].Seq)
			if err := t.purgeVersion(&page[i], seq); err != nil {
				return leaf, err
			}
		}
	}
	if err := t.removeWords(e.First, titleWords(e)); err != nil {
		return leaf, err
	}
	if err := t.conn.Exec("DELETE FROM name WHERE id = $1", int64(e.First)); err != nil {
		return leaf, err
	}
	return t.hash.event(&event), nil
}

// purgeVersion reduces a version to its leaf.
func (t *transaction) purgeVersion(v *sealed, by registry.Seq) error {
	leaf := t.hash.leaf(&v.Entry, v.digest)
	if err := t.conn.Exec("DELETE FROM target WHERE version = $1", int64(v.Seq)); err != nil {
		return err
	}
	return t.conn.Exec("UPDATE version SET name = NULL, number = NULL, time = NULL, author = NULL, status = NULL, "+
		"since = NULL, redirect = NULL, "+
		"authoritative = NULL, sandbox = NULL, alias = NULL, note = NULL, reason = NULL, successors = NULL, pattern "+
		"= NULL, contact = NULL, "+
		"metadata = NULL, salt = NULL, digest = $1, purged = $2 WHERE seq = $3", leaf[:], int64(by), int64(v.Seq))
}

func (t *transaction) insertEvent(e *registry.Event) error {
	author, err := t.author(e.By)
	if err != nil {
		return err
	}
	return t.conn.Insert("event", []string{"seq", "type", "kind", "key", "time", "author", "reason"}, "", 1,
		func(_ int, v Values) {
			v.Int(int64(e.Seq))
			v.Text(e.Kind)
			v.Int(int64(e.Key.Kind))
			v.Text(e.Name)
			v.Int(e.Time.UnixMilli())
			v.Int(author)
			optionalText(v, e.Note)
		})
}

// Redact implements registry.WriteTx.
func (t *transaction) Redact(set *registry.ChangeSet, versions []registry.Entry) error {
	if len(versions) == 0 {
		return nil
	}
	before, err := t.chain()
	if err != nil {
		return err
	}
	t.conn.Erased()
	first := before.last + 1
	leaves := make([]byte, 0, digestSize*len(versions))
	totals := make([]registry.Changed, 0, 1)
	for i := range versions {
		v := &versions[i]
		event := registry.Event{
			Key: v.Key, Seq: first + registry.Seq(i), Kind: registry.KindRedaction, By: set.By, Note: set.Note,
			Time: set.Time, Affected: []registry.Seq{v.Seq},
		}
		if err := t.insertEvent(&event); err != nil {
			return err
		}
		if err := t.conn.Exec("DELETE FROM target WHERE version = $1", int64(v.Seq)); err != nil {
			return err
		}
		err := t.conn.Exec("UPDATE version SET salt = NULL, contact = NULL, metadata = NULL, redacted = $1 WHERE "+
			"seq = $2", int64(event.Seq), int64(v.Seq))
		if err != nil {
			return err
		}
		leaf := t.hash.event(&event)
		leaves = append(leaves, leaf[:]...)
		if current, err := t.isCurrent(v); err != nil {
			return err
		} else if current {
			if err := t.removeWords(v.First, titleWords(v)); err != nil {
				return err
			}
			after := *v
			after.Targets = nil
			totals = append(totals, registry.Changed{Before: *v, After: after})
		}
	}
	if err := t.count(totals, nil); err != nil {
		return err
	}
	return t.commit(set, first, first+registry.Seq(len(versions))-1, leaves)
}

// isCurrent reports whether a version is the current one of its key.
func (t *transaction) isCurrent(e *registry.Entry) (current bool, err error) {
	err = t.conn.Query("SELECT 1 FROM name WHERE id = $1 AND version = $2", func(Row) error {
		current = true
		return nil
	}, int64(e.First), int64(e.Seq))
	return current, err
}
