package sqlite

import (
	"github.com/urnd/urnd/resolver/registry"
)

// Append implements registry.WriteTx.
func (c *conn) Append(entries []registry.Entry) error {
	head, err := c.head()
	if err != nil {
		return err
	}
	registry.Number(entries, head)
	for _, e := range entries {
		if err := c.exec("INSERT INTO versions (seq, prev, kind, name, rec) VALUES (?, ?, ?, ?, ?)",
			int64(e.Seq), int64(e.Prev), int64(e.Kind), e.Name, registry.Encode(e)); err != nil {
			return err
		}
		if err := c.exec("INSERT INTO names (kind, name, seq) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq",
			int64(e.Kind), e.Name, int64(e.Seq)); err != nil {
			return err
		}
	}
	return nil
}

// Purge implements registry.WriteTx.
func (c *conn) Purge(keys []registry.Key) error {
	head, err := c.head()
	if err != nil {
		return err
	}
	for _, key := range keys {
		e, err := c.lookup(key)
		for err == nil && e.Exists() {
			if err = c.exec("DELETE FROM versions WHERE seq = ?", int64(e.Seq)); err == nil {
				e, err = c.one("SELECT "+columns+" FROM versions v WHERE v.seq = ?", int64(e.Prev))
			}
		}
		if err == nil {
			err = c.exec("DELETE FROM names WHERE kind = ? AND name = ?", int64(key.Kind), key.Name)
		}
		head++
		if err == nil {
			err = c.exec("INSERT INTO versions (seq, prev, kind, name) VALUES (?, 0, ?, ?)", int64(head), int64(key.Kind), key.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Put implements registry.WriteTx.
func (c *conn) Put(table registry.Table, documents []registry.Document) error {
	for _, d := range documents {
		var err error
		if d.Value == nil {
			err = c.exec("DELETE FROM documents WHERE tab = ? AND key = ?", int64(table), d.Key)
		} else {
			err = c.exec("INSERT INTO documents (tab, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
				int64(table), d.Key, d.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
