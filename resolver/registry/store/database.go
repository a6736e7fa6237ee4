package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Database runs statements. It is safe for concurrent use. Its errors wrap registry.ErrNoStore, ErrReadOnly, ErrDamaged or
// ErrInvalid; those of functions that it calls are returned as they are.
type Database interface {
	// Lookup calls row for each row of one statement, outside of a transaction and without waiting for writers.
	Lookup(ctx context.Context, statement string, row func(Row) error, args ...any) error
	// Read calls f in a transaction that sees the database at one moment. It does not wait for writers.
	Read(ctx context.Context, f func(Conn) error) error
	// Write calls f in a transaction, of which there is one at a time, over all processes. Where it returns nil, all that f
	// wrote is durable, but for the last transactions with relaxed, which a power failure may undo, each as a whole.
	Write(ctx context.Context, relaxed bool, f func(Conn) error) error
	// Check reports what is wrong with what lies below tables, as far as the database knows.
	Check(ctx context.Context, report func(problem string)) error
	// Known is called with the seq of the last version that was read: what is asked later is at least as new.
	Known(seq registry.Seq)
}

// Conn runs statements within a transaction. It is not safe for concurrent use.
type Conn interface {
	// Query calls row for each row of a statement. Arguments are int64, string, *string, []byte, []int64, []string, or nil.
	Query(statement string, row func(Row) error, args ...any) error
	// Exec runs a statement without rows.
	Exec(statement string, args ...any) error
	// Insert inserts n rows into columns of a table: value is called for each, and adds a value for each column. conflict is the clause of
	// the statement that says what becomes of rows that there are already, "" where there are none.
	Insert(table string, columns []string, conflict string, n int, value func(i int, v Values)) error
	// Written is called with the last seq and digest of what is written with the transaction.
	Written(head registry.Seq, digest []byte)
	// Erased is called where content was removed that must not remain in a file.
	Erased()
}

// Row is a row of a statement. Its bytes are valid until the next row.
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

// Values takes the values of a row that is inserted.
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

// optionalTime adds a time, NULL for the zero value.
func optionalTime(v Values, t time.Time) {
	if t.IsZero() {
		v.Null()
		return
	}
	v.Int(t.UnixMilli())
}

// replacing returns the clause of an insertion that replaces the row with the same keys, of which columns there are others.
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
