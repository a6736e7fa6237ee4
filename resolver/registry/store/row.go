package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// table describes a side table for portable backups, which store its rows by column name.
type table struct {
	name string
	keys int // number of leading text columns that form the primary key
	text []string
	// numbers and bytes are the other columns, in this order.
	numbers, bytes []string
}

// tables returns the side tables: all tables of a portable backup other than entries and their history.
func tables() []table {
	return []table{
		{
			name: "token", keys: 1, text: []string{
				"id", "name", "role", "prefixes", "actions", "note", "made_by",
				"used", "root",
			},
			numbers: []string{"created", "expires"}, bytes: []string{"hash"},
		},
		{name: "mint", keys: 1, text: []string{"pattern", "next"}},
		{name: "resolved", keys: 2, text: []string{"name", "period"}, numbers: []string{"people", "bots"}},
		{
			name: "health", keys: 2, text: []string{"name", "hash", "uri", "state", "error", "moved", "detail"},
			numbers: []string{"since", "checked", "failures"},
		},
		{name: "lease", keys: 1, text: []string{"name", "holder"}, numbers: []string{"until"}},
		{name: "import", keys: 1, text: []string{"key", "value"}},
		{name: "job", keys: 1, text: []string{"key", "value"}},
		{name: "request", keys: 1, text: []string{"key", "value"}},
		{name: "mark", keys: 1, text: []string{"key", "value"}},
	}
}

// tableBy returns the table with a name.
func tableBy(name string) (table, error) {
	for _, t := range tables() {
		if t.name == name {
			return t, nil
		}
	}
	return table{}, fmt.Errorf("%w: unknown table %q", registry.ErrInvalid, name)
}

// columns returns the names of all columns.
func (t *table) columns() []string {
	all := append(make([]string, 0, len(t.text)+len(t.numbers)+len(t.bytes)), t.text...)
	return append(append(all, t.numbers...), t.bytes...)
}

// read returns at most limit rows behind a key, in the order of the keys; a nil key starts at the first row.
// NULL columns are omitted. last is the key at which to continue, nil at the end.
func (t *table) read(c Conn, after []any, limit int) (page []map[string]any, last []any, err error) {
	where := ""
	if after != nil {
		parameters := make([]string, t.keys)
		for i := range parameters {
			parameters[i] = fmt.Sprintf("$%d", i+2)
		}
		where = " WHERE (" + strings.Join(t.text[:t.keys], ", ") + ") > (" + strings.Join(parameters, ", ") + ")"
	}
	columns := t.columns()
	statement := "SELECT " + strings.Join(columns, ", ") + " FROM " + t.name + where + " ORDER BY " +
		strings.Join(t.text[:t.keys], ", ") + " LIMIT $1"
	err = c.Query(statement, func(row Row) error {
		values := make(map[string]any, len(columns))
		for i, column := range columns {
			switch {
			case row.Null(i):
			case i < len(t.text):
				values[column] = row.Text(i)
			case i < len(t.text)+len(t.numbers):
				values[column] = row.Int(i)
			default:
				values[column] = append([]byte(nil), row.Bytes(i)...)
			}
		}
		page = append(page, values)
		return nil
	}, append([]any{int64(limit)}, after...)...)
	if err == nil && len(page) == limit {
		for _, key := range t.text[:t.keys] {
			last = append(last, page[limit-1][key])
		}
	}
	return page, last, err
}

// parse returns the values of a row of a portable backup in the order of the columns: string, int64, []byte or
// nil.
func (t *table) parse(row map[string]json.RawMessage) ([]any, error) {
	columns := t.columns()
	values := make([]any, len(columns))
	read := 0
	for i, column := range columns {
		text, ok := row[column]
		if !ok {
			continue
		}
		read++
		var err error
		switch {
		case i < len(t.text):
			values[i], err = parsed[string](text)
		case i < len(t.text)+len(t.numbers):
			values[i], err = parsed[int64](text)
		default:
			values[i], err = parsed[[]byte](text)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s.%s: %w", registry.ErrDamaged, t.name, column, err)
		}
	}
	if read < len(row) {
		return nil, fmt.Errorf("%w: unknown columns in a row of %s: use a newer urnd", registry.ErrDamaged, t.name)
	}
	return values, nil
}

func parsed[T any](text json.RawMessage) (value T, err error) {
	err = json.Unmarshal(text, &value)
	return value, err
}

// insert inserts rows in the form that parse returns.
func (t *table) insert(c Conn, rows [][]any) error {
	return c.Insert(t.name, t.columns(), "", len(rows), func(i int, v Values) {
		for _, value := range rows[i] {
			switch value := value.(type) {
			case string:
				v.Text(value)
			case int64:
				v.Int(value)
			case []byte:
				v.Bytes(value)
			default:
				v.Null()
			}
		}
	})
}
