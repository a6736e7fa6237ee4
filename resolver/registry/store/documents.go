package store

import (
	"github.com/urnd/urnd/resolver/registry"
)

// tableName returns the name of a table of documents.
func tableName(table registry.Table) string {
	return [...]string{
		registry.TableImports: "import", registry.TableJobs: "job", registry.TableRequests: "request", registry.TableMarks: "mark",
	}[table]
}

// Documents implements registry.Tx.
func (t *transaction) Documents(table registry.Table, prefix, after string, limit int) (documents []registry.Document, err error) {
	from, to, err := between(prefix, after)
	if err != nil {
		return nil, err
	}
	err = t.conn.Query("SELECT key, value FROM "+tableName(table)+" WHERE key >= $1 AND key < $2 ORDER BY key LIMIT $3", func(row Row) error {
		documents = append(documents, registry.Document{Key: row.Text(0), Value: []byte(row.Text(1))})
		return nil
	}, from, to, int64(limit))
	return ascending(documents, err, from, func(d *registry.Document) string { return d.Key })
}

// Document implements registry.Tx.
func (t *transaction) Document(table registry.Table, key string) (value []byte, err error) {
	if registry.CheckKey(key) != nil {
		return nil, nil //nolint:nilerr // it cannot be there
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
	last := make(map[string]int, len(documents)) // a statement changes a row once
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
	return t.conn.Insert(tableName(table), []string{"key", "value"}, " ON CONFLICT (key) DO UPDATE SET value = excluded.value", len(kept),
		func(i int, v Values) {
			v.Text(kept[i].Key)
			v.Text(string(kept[i].Value))
		})
}
