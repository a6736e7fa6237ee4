package store

import (
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// healthColumns are the columns of a registry.Health. The first one, hash, is the hash of its URI.
func healthColumns() []string {
	return []string{"hash", "name", "uri", "state", "since", "checked", "failures", "error", "moved", "detail"}
}

// healthWhere returns the rows of health that a condition selects.
func (t *transaction) healthWhere(condition string, args ...any) (found []registry.Health, err error) {
	err = t.conn.Query("SELECT "+strings.Join(healthColumns(), ", ")+" FROM health WHERE "+condition,
		func(row Row) error {
			h := registry.Health{
				Name: row.Text(1), URI: row.Text(2), State: row.Text(3), Since: optionalTimeOf(row, 4),
				Checked: optionalTimeOf(row, 5), Failures: int(row.Int(6)), Error: row.Text(7), Moved: row.Text(8),
				Detail: []byte(row.Text(9)),
			}
			found = append(found, h)
			return nil
		}, args...)
	return found, err
}

// optionalTimeOf returns the time of a column, the zero value for NULL.
func optionalTimeOf(row Row, column int) time.Time {
	if row.Null(column) {
		return time.Time{}
	}
	return toTime(row.Int(column))
}

// Health implements registry.Tx.
func (t *transaction) Health(
	prefix string, after registry.HealthKey, state string, limit int,
) ([]registry.Health, error) {
	for _, text := range []string{prefix, after.Name, after.Hash} {
		if err := registry.CheckSearchText(text); err != nil {
			return nil, err
		}
	}
	condition := "name >= $1 AND name < $2 AND (name, hash) > ($3, $4) "
	args := []any{max(prefix, after.Name), prefix + "\U0010ffff", after.Name, after.Hash, int64(limit)}
	if state != "" {
		condition += "AND state = $6 "
		args = append(args, state)
	}
	return t.healthWhere(condition+"ORDER BY name, hash LIMIT $5", args...)
}

// TargetHealth implements registry.Tx.
func (t *transaction) TargetHealth(key registry.HealthKey) (registry.Health, error) {
	found, err := t.healthWhere("name = $1 AND hash = $2", key.Name, key.Hash)
	if err != nil || len(found) == 0 {
		return registry.Health{}, err
	}
	return found[0], nil
}

// PutHealth implements registry.WriteTx.
func (t *transaction) PutHealth(h registry.Health) error {
	columns := healthColumns()
	return t.conn.Insert("health", columns, replacing(columns, "name", "hash"), 1, func(_ int, v Values) {
		v.Text(registry.HealthKeyOf(h.Name, h.URI).Hash)
		v.Text(h.Name)
		v.Text(h.URI)
		v.Text(h.State)
		optionalTime(v, h.Since)
		optionalTime(v, h.Checked)
		v.Int(int64(h.Failures))
		optionalText(v, h.Error)
		optionalText(v, h.Moved)
		v.Text(string(h.Detail))
	})
}

// RemoveHealth implements registry.WriteTx.
func (t *transaction) RemoveHealth(key registry.HealthKey) error {
	return t.conn.Exec("DELETE FROM health WHERE name = $1 AND hash = $2", key.Name, key.Hash)
}

// RemoveNameHealth implements registry.WriteTx.
func (t *transaction) RemoveNameHealth(name string) error {
	return t.conn.Exec("DELETE FROM health WHERE name = $1", name)
}
