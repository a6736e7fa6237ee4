package store

import (
	"cmp"
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
)

// query returns the entries of a statement that selects entryColumns.
func (t *transaction) query(statement string, args ...any) ([]registry.Entry, error) {
	var found entries
	err := t.conn.Query(statement, found.add, args...)
	return found.all, err
}

// ascending returns a page, or the error of reading it, or ErrDamaged if the index by which it was read is out
// of order.
func ascending[T any, K cmp.Ordered](page []T, err error, least K, key func(*T) K) ([]T, error) {
	if err == nil {
		err = registry.CheckAscending(page, least, key)
	}
	if err != nil {
		return nil, err
	}
	return page, nil
}

// between returns the range of texts that begin with prefix and are greater than after: at least from and less
// than to.
func between(prefix, after string) (from, to string, err error) {
	for _, text := range []string{prefix, after} {
		if err := registry.CheckSearchText(text); err != nil {
			return "", "", err
		}
	}
	from = prefix
	if after != "" && after >= prefix {
		from = after + "\x01" // the least text greater than after, since a text has no NUL
	}
	return from, prefix + "\U0010ffff", nil
}

// Entries implements registry.Tx.
func (t *transaction) Entries(keys []registry.Key) ([]registry.Entry, error) {
	all := make([]registry.Entry, len(keys))
	places := make(map[registry.Key][]int, len(keys))
	byKind := make(map[registry.Kind][]string, 2)
	for i, key := range keys {
		if registry.CheckKey(key.Name) != nil {
			continue // such a key cannot exist
		}
		if places[key] == nil {
			byKind[key.Kind] = append(byKind[key.Kind], key.Name)
		}
		places[key] = append(places[key], i)
	}
	for kind, names := range byKind {
		if some, err := t.anyBetween(kind, names); err != nil || !some {
			if err != nil {
				return nil, err
			}
			continue
		}
		found, err := t.query("SELECT "+entryColumns+" FROM name n"+current+
			"WHERE n.kind = $1 AND n.key IN ($2...) ORDER BY n.key, t.position",
			int64(kind), names)
		if err != nil {
			return nil, err
		}
		for i := range found {
			for _, place := range places[found[i].Key] {
				all[place] = found[i]
			}
		}
	}
	return all, nil
}

// few is the maximum number of keys that are looked up without anyBetween.
const few = 8

// anyBetween reports whether any of many keys may exist, by a query for keys between the least and the
// greatest. During a sorted import of new names there are none.
func (t *transaction) anyBetween(kind registry.Kind, names []string) (some bool, err error) {
	if len(names) <= few {
		return true, nil
	}
	first, last := names[0], names[0]
	for _, name := range names[1:] {
		first, last = min(first, name), max(last, name)
	}
	err = t.conn.Query("SELECT 1 FROM name WHERE kind = $1 AND key >= $2 AND key <= $3 LIMIT 1", func(Row) error {
		some = true
		return nil
	}, int64(kind), first, last)
	return some, err
}

// Floor implements registry.Tx.
func (t *transaction) Floor(text string) (registry.Entry, error) {
	if err := registry.CheckSearchText(text); err != nil {
		return registry.Entry{}, err
	}
	var found entries
	err := t.conn.Query(floor, found.add, text)
	return found.one(), err
}

// List implements registry.Tx.
func (t *transaction) List(kind registry.Kind, prefix, after string, limit int) ([]registry.Entry, error) {
	from, to, err := between(prefix, after)
	if err != nil {
		return nil, err
	}
	// With a range, instead of a subquery with a LIMIT, SQLite reads all rows in the order of the keys without
	// sorting.
	err = t.conn.Query("SELECT key FROM name WHERE kind = $1 AND key >= $2 AND key < $3 ORDER BY key LIMIT 1 OFFSET $4",
		func(row Row) error {
			to = row.Text(0)
			return nil
		}, int64(kind), from, to, int64(limit))
	if err != nil {
		return nil, err
	}
	found, err := t.query("SELECT "+entryColumns+" FROM name n"+current+
		"WHERE n.kind = $1 AND n.key >= $2 AND n.key < $3 ORDER BY n.key, t.position",
		int64(kind), from, to)
	return ascending(found, err, from, func(e *registry.Entry) string { return e.Name })
}

// Current implements registry.Tx.
func (t *transaction) Current(kind registry.Kind, after string, limit int) (page []registry.ChangedKey, err error) {
	from, _, err := between("", after)
	if err != nil {
		return nil, err
	}
	err = t.conn.Query("SELECT version, key FROM name WHERE kind = $1 AND key >= $2 ORDER BY key LIMIT $3",
		func(row Row) error {
			page = append(page, registry.ChangedKey{
				Seq: registry.Seq(row.Int(0)),
				Key: registry.Key{Kind: kind, Name: row.Text(1)},
			})
			return nil
		}, int64(kind), from, int64(limit))
	return ascending(page, err, from, func(c *registry.ChangedKey) string { return c.Key.Name })
}

// Latest implements registry.Tx.
func (t *transaction) Latest(
	before registry.Seq, limit int,
) (current []registry.ChangedKey, last registry.Seq, err error) {
	looked := 0
	err = t.conn.Query("SELECT v.seq, coalesce(n.kind, 0), coalesce(n.key, '') FROM (SELECT seq, name FROM version "+
		"WHERE seq < $1 ORDER BY seq DESC LIMIT $2) v "+
		"LEFT JOIN name n ON n.id = v.name AND n.version = v.seq ORDER BY v.seq DESC", func(row Row) error {
		last, looked = registry.Seq(row.Int(0)), looked+1
		if key := row.Text(2); key != "" {
			current = append(current,
				registry.ChangedKey{Seq: last, Key: registry.Key{Kind: registry.Kind(row.Int(1)), Name: key}}) //nolint:gosec // 0 or 1
		}
		return nil
	}, int64(before), int64(limit))
	if looked < limit {
		last = 0
	}
	return current, last, err
}

// versionsOf selects the versions of name $1 whose numbers are less than $2, at most $3.
const versionsOf = "(SELECT * FROM version WHERE seq = $1 AND name = $1 AND 1 < CAST($2 AS BIGINT) UNION ALL " +
	"SELECT * FROM version WHERE name = $1 AND number > 1 AND number < $2 ORDER BY number DESC LIMIT $3)"

// Versions implements registry.Tx.
func (t *transaction) Versions(key registry.Key, before registry.Seq, limit int) ([]registry.Entry, error) {
	id, err := t.id(key)
	if err != nil || id == 0 {
		return nil, err
	}
	below := int64(1) << 62
	if before != 0 {
		below = 0
		err := t.conn.Query("SELECT max(number) + 1 FROM (SELECT number FROM version WHERE seq = $1 AND name = $1 "+
			"AND seq < $2 UNION ALL "+
			"SELECT number FROM version WHERE name = $1 AND number > 1 AND seq < $2) numbers", func(row Row) error {
			below = row.Int(0)
			return nil
		}, id, int64(before))
		if err != nil {
			return nil, err
		}
	}
	return t.query("SELECT "+entryColumns+" FROM "+versionsOf+" v"+entryTables+"ORDER BY v.seq DESC, t.position", id,
		below, int64(limit))
}

// Predecessors implements registry.Tx.
func (t *transaction) Predecessors(versions []registry.Entry) ([]registry.Entry, error) {
	all := make([]registry.Entry, len(versions))
	index := make(map[int64]int, len(versions))
	var seqs []int64
	for i := range versions {
		if versions[i].Version > 1 {
			index[int64(versions[i].Seq)] = i
			seqs = append(seqs, int64(versions[i].Seq))
		}
	}
	if len(seqs) == 0 {
		return all, nil
	}
	places := make(map[registry.Seq]int, len(seqs)) // of the previous versions, by their seq
	// The version with the number 1 has the id of its name as seq.
	err := t.conn.Query("SELECT c.seq, coalesce(p.seq, c.name) FROM version c LEFT JOIN version p "+
		"ON p.name = c.name AND p.number = c.number - 1 AND p.number > 1 WHERE c.seq IN ($1...)", func(row Row) error {
		places[registry.Seq(row.Int(1))] = index[row.Int(0)]
		return nil
	}, seqs)
	if err != nil {
		return nil, err
	}
	before := make([]int64, 0, len(places))
	for seq := range places {
		before = append(before, int64(seq))
	}
	found, err := t.versions(before)
	for i := range found {
		all[places[found[i].Seq]] = found[i]
	}
	return all, err
}

// versions returns the versions with some seqs, in ascending order, without purged ones.
func (t *transaction) versions(seqs []int64) ([]registry.Entry, error) {
	return t.query("SELECT "+entryColumns+" FROM version v"+entryTables+
		"WHERE v.seq IN ($1...) ORDER BY v.seq, t.position", seqs)
}

// Changes implements registry.Tx.
func (t *transaction) Changes(after registry.Seq, limit int) (changes []registry.ChangedKey, err error) {
	err = t.conn.Query("SELECT seq, kind, key FROM (SELECT v.seq, n.kind, n.key FROM version v JOIN name n ON n.id "+
		"= v.name WHERE v.seq > $1 "+
		"UNION ALL SELECT seq, kind, key FROM event WHERE seq > $1 ORDER BY 1 LIMIT $2) changes ORDER BY seq",
		func(row Row) error {
			key := registry.Key{Kind: registry.Kind(row.Int(1)), Name: row.Text(2)} //nolint:gosec // 0 or 1
			changes = append(changes, registry.ChangedKey{Seq: registry.Seq(row.Int(0)), Key: key})
			return nil
		}, int64(after), int64(limit))
	if err == nil && len(changes) > 0 {
		t.db.Known(changes[len(changes)-1].Seq)
	}
	return ascending(changes, err, after+1, func(c *registry.ChangedKey) registry.Seq { return c.Seq })
}

// Events implements registry.Tx.
func (t *transaction) Events(after registry.Seq, limit int) ([]registry.Event, error) {
	versions, err := t.query("SELECT "+entryColumns+
		" FROM (SELECT * FROM version WHERE seq > $1 AND name IS NOT NULL ORDER BY seq LIMIT $2) v"+
		entryTables+"ORDER BY v.seq, t.position", int64(after), int64(limit))
	if err != nil {
		return nil, err
	}
	others, err := t.events(after, limit)
	if err != nil {
		return nil, err
	}
	all := make([]registry.Event, 0, min(len(versions)+len(others), limit))
	for len(all) < limit && len(versions)+len(others) > 0 {
		if len(others) == 0 || len(versions) > 0 && versions[0].Seq < others[0].Seq {
			all = append(all, registry.Event{Key: versions[0].Key, Seq: versions[0].Seq, Version: versions[0]})
			versions = versions[1:]
			continue
		}
		all = append(all, others[0])
		others = others[1:]
	}
	if err := t.setNumbers(all); err != nil {
		return nil, err
	}
	return ascending(all, nil, after+1, func(e *registry.Event) registry.Seq { return e.Seq })
}

// events returns at most limit events other than versions, after a seq, with the seqs of the affected versions.
func (t *transaction) events(after registry.Seq, limit int) (all []registry.Event, err error) {
	err = t.conn.Query("SELECT e.seq, e.type, e.kind, e.key, e.time, a.name, e.reason FROM event e JOIN author a ON "+
		"a.id = e.author "+
		"WHERE e.seq > $1 ORDER BY e.seq LIMIT $2", func(row Row) error {
		all = append(all, registry.Event{
			Seq: registry.Seq(row.Int(0)), Kind: row.Text(1),
			Key:  registry.Key{Kind: registry.Kind(row.Int(2)), Name: row.Text(3)}, //nolint:gosec // 0 or 1
			Time: toTime(row.Int(4)), By: row.Text(5), Note: row.Text(6),
		})
		return nil
	}, int64(after), int64(limit))
	for i := range all {
		if err != nil {
			break
		}
		err = t.about(&all[i])
	}
	return all, err
}

// about reads the seqs of the versions that an event affected.
func (t *transaction) about(e *registry.Event) error {
	statement := "SELECT seq FROM version WHERE purged = $1 ORDER BY seq"
	if e.Kind == registry.KindRedaction {
		statement = "SELECT seq FROM version WHERE redacted = $1 ORDER BY seq"
	}
	return t.conn.Query(statement, func(row Row) error {
		e.Affected = append(e.Affected, registry.Seq(row.Int(0)))
		return nil
	}, int64(e.Seq))
}

// setNumbers sets the change sets of events, which are in ascending order. Any number of purged versions may
// lie between them.
func (t *transaction) setNumbers(all []registry.Event) (err error) {
	var commits []registry.Commit
	for i := range all {
		for len(commits) > 0 && commits[0].Last < all[i].Seq {
			commits = commits[1:]
		}
		if len(commits) == 0 {
			if commits, err = t.Commits(all[i].Seq-1, len(all)-i); err != nil {
				return err
			}
		}
		if len(commits) == 0 || commits[0].First > all[i].Seq {
			return fmt.Errorf("%w: number %d without a commit", registry.ErrDamaged, all[i].Seq)
		}
		all[i].Set = commits[0].Set
	}
	return nil
}

// ByStatus implements registry.Tx.
func (t *transaction) ByStatus(status registry.Status, below, after string, limit int) ([]registry.Entry, error) {
	from, to, err := between(below, after)
	if err != nil {
		return nil, err
	}
	found, err := t.query("SELECT "+entryColumns+
		" FROM (SELECT * FROM name WHERE kind = 0 AND status = $1 AND status > 0 AND key >= $2 AND key < $3 "+
		"ORDER BY key LIMIT $4) n"+current+"ORDER BY n.key, t.position", int64(status), from, to, int64(limit))
	return ascending(found, err, from, func(e *registry.Entry) string { return e.Name })
}

// Aliases implements registry.Tx.
func (t *transaction) Aliases(name, after string, limit int) (aliases []string, err error) {
	from, _, err := between("", after)
	if err != nil {
		return nil, err
	}
	err = t.conn.Query("SELECT key FROM name WHERE alias = $1 AND key >= $2 ORDER BY key LIMIT $3", texts(&aliases),
		name, from, int64(limit))
	return aliases, err
}

// Aliased implements registry.Tx.
func (t *transaction) Aliased(prefix, after string, limit int) (names []string, err error) {
	from, to, err := between(prefix, after)
	if err != nil {
		return nil, err
	}
	err = t.conn.Query("SELECT DISTINCT alias FROM name WHERE alias >= $1 AND alias < $2 ORDER BY alias LIMIT $3",
		texts(&names), from, to, int64(limit))
	return names, err
}

// texts returns a function that appends the first column of each row.
func texts(all *[]string) func(Row) error {
	return func(row Row) error {
		*all = append(*all, row.Text(0))
		return nil
	}
}

// id returns name.id of a key, 0 if it is not registered.
func (t *transaction) id(key registry.Key) (id int64, err error) {
	if registry.CheckKey(key.Name) != nil {
		return 0, nil //nolint:nilerr // such a key cannot exist
	}
	err = t.conn.Query("SELECT id FROM name WHERE kind = $1 AND key = $2", func(row Row) error {
		id = row.Int(0)
		return nil
	}, int64(key.Kind), key.Name)
	return id, err
}

// Totals implements registry.Tx.
func (t *transaction) Totals() (map[string]registry.Totals, error) {
	all := make(map[string]registry.Totals)
	err := t.conn.Query("SELECT namespace, active, reserved, withdrawn, aliases, targets, prefixes FROM total",
		func(row Row) error {
			all[row.Text(0)] = registry.Totals{
				Active: row.Int(1), Reserved: row.Int(2), Withdrawn: row.Int(3), Aliases: row.Int(4),
				Targets:  row.Int(5),
				Prefixes: row.Int(6),
			}
			return nil
		})
	return all, err
}
