package store

import "github.com/urnd/urnd/resolver/registry"

// Lease implements registry.Tx.
func (t *transaction) Lease(name string) (h registry.Holding, err error) {
	err = t.conn.Query("SELECT holder, until FROM lease WHERE name = $1", func(row Row) error {
		h = registry.Holding{Holder: row.Text(0), Until: toTime(row.Int(1))}
		return nil
	}, name)
	return h, err
}

// SetLease implements registry.WriteTx.
func (t *transaction) SetLease(name string, h registry.Holding) error {
	return t.conn.Exec("INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)"+replacing([]string{"holder", "until"}, "name"),
		name, h.Holder, h.Until.UnixMilli())
}

// RemoveLease implements registry.WriteTx.
func (t *transaction) RemoveLease(name string) error {
	return t.conn.Exec("DELETE FROM lease WHERE name = $1", name)
}
