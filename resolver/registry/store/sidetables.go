package store

import (
	"fmt"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
)

// MintCounter implements registry.Tx.
func (t *transaction) MintCounter(pattern string) (next uint64, ok bool, err error) {
	if registry.CheckKey(pattern) != nil {
		return 0, false, nil // it cannot be there
	}
	err = t.conn.Query("SELECT next FROM mint WHERE pattern = $1", func(row Row) error {
		if next, err = strconv.ParseUint(row.Text(0), 10, 64); err != nil {
			return fmt.Errorf("%w: the counter of %q: %w", registry.ErrDamaged, pattern, err)
		}
		ok = true
		return nil
	}, pattern)
	return next, ok, err
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
