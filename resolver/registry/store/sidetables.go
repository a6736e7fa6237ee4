package store

import (
	"fmt"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
)

// MintCounter implements registry.Tx.
func (t *transaction) MintCounter(pattern string) (next uint64, ok bool, err error) {
	if registry.CheckKey(pattern) != nil {
		return 0, false, nil // such a key cannot exist
	}
	err = t.conn.Query("SELECT next FROM mint WHERE pattern = $1", func(row Row) error {
		if next, err = strconv.ParseUint(row.Text(0), 10, 64); err != nil {
			return fmt.Errorf("%w: counter of %q: %w", registry.ErrDamaged, pattern, err)
		}
		ok = true
		return nil
	}, pattern)
	return next, ok, err
}

// MintPatterns implements registry.Tx.
func (t *transaction) MintPatterns(after string, limit int) (all []string, err error) {
	err = t.conn.Query("SELECT pattern FROM mint WHERE pattern > $1 ORDER BY pattern LIMIT $2", func(row Row) error {
		all = append(all, row.Text(0))
		return nil
	}, after, int64(limit))
	return all, err
}

// SetMintCounter implements registry.WriteTx.
func (t *transaction) SetMintCounter(pattern string, next uint64) error {
	if err := registry.CheckKey(pattern); err != nil {
		return err
	}
	return t.conn.Exec("INSERT INTO mint (pattern, next) VALUES ($1, $2)"+replacing([]string{"next"}, "pattern"),
		pattern, strconv.FormatUint(next, 10))
}

// Lease implements registry.Tx.
func (t *transaction) Lease(name string) (h registry.LeaseHolder, err error) {
	err = t.conn.Query("SELECT holder, until FROM lease WHERE name = $1", func(row Row) error {
		h = registry.LeaseHolder{Holder: row.Text(0), Until: toTime(row.Int(1))}
		return nil
	}, name)
	return h, err
}

// SetLease implements registry.WriteTx.
func (t *transaction) SetLease(name string, h registry.LeaseHolder) error {
	return t.conn.Exec("INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)"+
		replacing([]string{"holder", "until"}, "name"),
		name, h.Holder, h.Until.UnixMilli())
}

// RemoveLease implements registry.WriteTx.
func (t *transaction) RemoveLease(name string) error {
	return t.conn.Exec("DELETE FROM lease WHERE name = $1", name)
}

// tableName returns the SQL name of a table of documents.
func tableName(table registry.Table) string {
	return [...]string{
		registry.TableImports: "import", registry.TableJobs: "job", registry.TableRequests: "request",
		registry.TableMarks:        "mark",
		registry.TableCertificates: "certificate",
	}[table]
}

// Documents implements registry.Tx.
func (t *transaction) Documents(
	table registry.Table, prefix, after string, limit int,
) (documents []registry.Document, err error) {
	from, to, err := between(prefix, after)
	if err != nil {
		return nil, err
	}
	err = t.conn.Query("SELECT key, value FROM "+tableName(table)+" WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3",
		func(row Row) error {
			documents = append(documents, registry.Document{Key: row.Text(0), Value: []byte(row.Text(1))})
			return nil
		}, from, to, int64(limit))
	return ascending(documents, err, from, func(d *registry.Document) string { return d.Key })
}

// Document implements registry.Tx.
func (t *transaction) Document(table registry.Table, key string) (value []byte, err error) {
	if registry.CheckKey(key) != nil {
		return nil, nil //nolint:nilerr // such a key cannot exist
	}
	err = t.conn.Query("SELECT value FROM "+tableName(table)+" WHERE key = $1", func(row Row) error {
		value = []byte(row.Text(0))
		return nil
	}, key)
	return value, err
}

// Put implements registry.WriteTx.
func (t *transaction) Put(table registry.Table, documents []registry.Document) error {
	var removed []string
	last := make(map[string]int, len(documents)) // a statement can change a row only once
	for i := range documents {
		if err := registry.CheckKey(documents[i].Key); err != nil {
			return err
		}
		last[documents[i].Key] = i
	}
	kept := make([]registry.Document, 0, len(documents))
	for i, d := range documents {
		switch {
		case last[d.Key] != i:
		case d.Value == nil:
			removed = append(removed, d.Key)
		default:
			kept = append(kept, d)
		}
	}
	if len(removed) > 0 {
		if err := t.conn.Exec("DELETE FROM "+tableName(table)+" WHERE key IN ($1...)", removed); err != nil {
			return err
		}
	}
	return t.conn.Insert(tableName(table), []string{"key", "value"},
		" ON CONFLICT (key) DO UPDATE SET value = excluded.value", len(kept),
		func(i int, v Values) {
			v.Text(kept[i].Key)
			v.Text(string(kept[i].Value))
		})
}
