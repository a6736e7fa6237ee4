package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Database runs statements. It is safe for concurrent use. Its errors wrap registry.ErrUnavailable, ErrReadOnly,
// ErrDamaged or ErrInvalid; errors of callbacks are returned unchanged.
type Database interface {
	// Lookup calls row for each row of a single statement, outside of a transaction and without waiting for
	// writers.
	Lookup(ctx context.Context, statement string, row func(Row) error, args ...any) error
	// Read calls f in a transaction with a snapshot of the database. It does not wait for writers.
	Read(ctx context.Context, f func(Conn) error) error
	// Write calls f in a write transaction. Only one runs at a time, across all processes. If Write returns
	// nil, all that f wrote is durable; with relaxed, a power failure may undo the last transactions, each as a
	// whole.
	Write(ctx context.Context, relaxed bool, f func(Conn) error) error
	// Check reports the corruption below the level of tables that the database can detect.
	Check(ctx context.Context, report func(problem string)) error
	// Known is called with the greatest seq that was read: later reads must be at least as recent.
	Known(seq registry.Seq)
}

// Conn runs statements within a transaction. It is not safe for concurrent use.
type Conn interface {
	// Query calls row for each row of a statement. Arguments are int64, string, *string, []byte, []int64,
	// []string or nil.
	Query(statement string, row func(Row) error, args ...any) error
	// Exec runs a statement that returns no rows.
	Exec(statement string, args ...any) error
	// Insert inserts n rows into columns of a table. value is called for each row, and adds one value per
	// column. conflict is the ON CONFLICT clause for rows that already exist, "" if there are none.
	Insert(table string, columns []string, conflict string, n int, value func(i int, v Values)) error
	// Written is called with the last seq and the digest of a commit that the transaction writes.
	Written(head registry.Seq, digest []byte)
	// Erased is called when the transaction removes content that must not remain in the file.
	Erased()
}

// Row is a row of a result. The values of Bytes are valid until the next row.
type Row interface {
	// Null reports whether a column is NULL.
	Null(column int) bool
	// Int returns the integer of a column, 0 for NULL.
	Int(column int) int64
	// Text returns the text of a column, "" for NULL.
	Text(column int) string
	// Bytes returns the bytes of a column, nil for NULL.
	Bytes(column int) []byte
}

// Values receives the values of an inserted row, column by column.
type Values interface {
	Int(n int64)
	Text(s string)
	Bytes(b []byte)
	Null()
}

// optional adds a number, NULL for 0.
func optional(v Values, n int64) {
	if n == 0 {
		v.Null()
		return
	}
	v.Int(n)
}

// optionalText adds a text, NULL for "".
func optionalText(v Values, s string) {
	if s == "" {
		v.Null()
		return
	}
	v.Text(s)
}

// optionalTime adds a time in milliseconds since 1970, NULL for the zero value.
func optionalTime(v Values, t time.Time) {
	if t.IsZero() {
		v.Null()
		return
	}
	v.Int(t.UnixMilli())
}

// replacing returns the ON CONFLICT clause that replaces the other columns of a row with the same keys.
func replacing(columns []string, keys ...string) string {
	var set []string
	for _, column := range columns {
		if !slices.Contains(keys, column) {
			set = append(set, column+" = excluded."+column)
		}
	}
	return " ON CONFLICT (" + strings.Join(keys, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// flag adds 1, or NULL for false.
func flag(v Values, set bool) {
	if set {
		v.Int(1)
		return
	}
	v.Null()
}
