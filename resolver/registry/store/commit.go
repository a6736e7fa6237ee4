package store

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// link is a commit of the chain: its last Seq and its digest.
type link struct {
	last   registry.Seq
	digest []byte
}

// chain returns the last commit, the zero value if there is none.
func (t *transaction) chain() (*link, error) {
	if t.last != nil {
		return t.last, nil
	}
	last := new(link)
	err := t.conn.Query("SELECT last, digest FROM commits ORDER BY last DESC LIMIT 1", func(row Row) error {
		*last = link{registry.Seq(row.Int(0)), append([]byte(nil), row.Bytes(1)...)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.last = last
	return last, nil
}

// commit writes a commit of the versions and events from first to last, whose concatenated leaves are given, as
// part of a change set.
func (t *transaction) commit(set *registry.ChangeSet, first, last registry.Seq, leaves []byte) (err error) {
	isNew := set.Number == 0
	if isNew {
		set.Number = first
	}
	set.Last = last
	set.Rows += int64(last - first + 1)
	if isNew {
		err = t.insertSet(set)
	} else {
		err = t.conn.Exec("UPDATE change_set SET last = $1, size = $2 WHERE id = $3", int64(set.Last), set.Rows,
			int64(set.Number))
	}
	if err == nil {
		_, err = t.append(set, first, last, leaves)
	}
	return err
}

// append appends a commit of a change set to the chain, and returns its digest.
func (t *transaction) append(
	set *registry.ChangeSet, first, last registry.Seq, leaves []byte,
) (digest [digestSize]byte, err error) {
	before, err := t.chain()
	if err != nil {
		return digest, err
	}
	digest = t.hash.commit(before.digest, set, leaves)
	err = t.conn.Exec("INSERT INTO commits (first, last, change_set, digest) VALUES ($1, $2, $3, $4)",
		int64(first), int64(last), int64(set.Number), digest[:])
	if err != nil {
		return digest, err
	}
	t.last = &link{last, digest[:]}
	t.conn.Written(last, digest[:])
	return digest, nil
}

func (t *transaction) insertSet(set *registry.ChangeSet) error {
	author, err := t.author(set.By)
	if err != nil {
		return err
	}
	return t.conn.Insert("change_set", []string{"id", "kind", "author", "note", "time", "reverts", "last", "size"}, "",
		1, func(_ int, v Values) {
			v.Int(int64(set.Number))
			v.Text(set.Kind)
			v.Int(author)
			optionalText(v, set.Note)
			v.Int(set.Time.UnixMilli())
			optional(v, int64(set.Reverts))
			v.Int(int64(set.Last))
			v.Int(set.Rows)
		})
}

// Commits implements registry.Tx.
func (t *transaction) Commits(after registry.Seq, limit int) ([]registry.Commit, error) {
	all, err := t.commits("SELECT first, last, change_set, digest FROM commits WHERE last > $1 ORDER BY last LIMIT $2",
		int64(after), int64(limit))
	return ascending(all, err, after+1, func(c *registry.Commit) registry.Seq { return c.Last })
}

// CommitsInSet implements registry.Tx.
func (t *transaction) CommitsInSet(set, after registry.Seq, limit int) ([]registry.Commit, error) {
	all, err := t.commits("SELECT first, last, change_set, digest FROM commits WHERE change_set = $1 AND last > $2 "+
		"ORDER BY last LIMIT $3",
		int64(set), int64(after), int64(limit))
	return ascending(all, err, after+1, func(c *registry.Commit) registry.Seq { return c.Last })
}

func (t *transaction) commits(statement string, args ...any) (all []registry.Commit, err error) {
	err = t.conn.Query(statement, func(row Row) error {
		all = append(all, registry.Commit{
			First: registry.Seq(row.Int(0)), Last: registry.Seq(row.Int(1)), Set: registry.Seq(row.Int(2)),
			Digest: [digestSize]byte(padded(row.Bytes(3))),
		})
		return nil
	}, args...)
	return all, err
}

// padded returns a digest, or the zero digest for one of a wrong length, which a CHECK constraint rules out.
func padded(digest []byte) []byte {
	if len(digest) != digestSize {
		return make([]byte, digestSize)
	}
	return digest
}

// LastCommit implements registry.Tx.
func (t *transaction) LastCommit() (registry.Commit, error) {
	all, err := t.commits("SELECT first, last, change_set, digest FROM commits ORDER BY last DESC LIMIT 1")
	if err != nil || len(all) == 0 {
		return registry.Commit{}, err
	}
	return all[0], nil
}

// CommitByDigest implements registry.Tx.
func (t *transaction) CommitByDigest(digest [digestSize]byte) (registry.Commit, error) {
	all, err := t.commits("SELECT first, last, change_set, digest FROM commits WHERE digest = $1", digest[:])
	if err != nil || len(all) == 0 {
		return registry.Commit{}, err
	}
	return all[0], nil
}

const selectSets = "SELECT s.id, s.kind, a.name, s.note, s.time, s.reverts, s.last, s.size FROM change_set s JOIN " +
	"author a ON a.id = s.author "

// ChangeSet implements registry.Tx.
func (t *transaction) ChangeSet(number registry.Seq) (registry.ChangeSet, error) {
	all, err := t.sets(selectSets+"WHERE s.id = $1", int64(number))
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: no change set %d", registry.ErrUnknown, number)
	}
	if err != nil {
		return registry.ChangeSet{}, err
	}
	return all[0], nil
}

// ChangeSets implements registry.Tx.
func (t *transaction) ChangeSets(after registry.Seq, limit int) ([]registry.ChangeSet, error) {
	return t.sets(selectSets+"WHERE s.id > $1 ORDER BY s.id LIMIT $2", int64(after), int64(limit))
}

// ChangeSetsBefore implements registry.Tx.
func (t *transaction) ChangeSetsBefore(before registry.Seq, limit int) ([]registry.ChangeSet, error) {
	return t.sets(selectSets+"WHERE s.id < $1 ORDER BY s.id DESC LIMIT $2", int64(before), int64(limit))
}

func (t *transaction) sets(statement string, args ...any) (all []registry.ChangeSet, err error) {
	err = t.conn.Query(statement, func(row Row) error {
		all = append(all, registry.ChangeSet{
			Number: registry.Seq(row.Int(0)), Kind: row.Text(1), By: row.Text(2), Note: row.Text(3),
			Time: toTime(row.Int(4)), Reverts: registry.Seq(row.Int(5)), Last: registry.Seq(row.Int(6)),
			Rows: row.Int(7),
		})
		return nil
	}, args...)
	return all, err
}
