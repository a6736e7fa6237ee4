package postgres

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// conn implements store.Conn within a transaction. Statements without rows are queued, and sent in one batch
// before the next statement with rows, or at the end.
type conn struct {
	ctx     context.Context //nolint:containedctx // the value lives for one call
	tx      pgx.Tx
	timeout time.Duration // per statement
	text    func(statement string) string

	queued pgx.Batch
	wrote  bool         // whether anything was written
	head   registry.Seq // Seq of the last version or event that was written; 0 for none
	digest []byte       // of the commit with head
}

// row implements store.Row.
type row struct {
	values  [][]byte
	columns []pgconn.FieldDescription
}

func (r row) Null(column int) bool   { return r.values[column] == nil }
func (r row) Text(column int) string { return string(r.values[column]) }

func (r row) Int(column int) int64 {
	b := r.values[column]
	switch {
	case b == nil:
		return 0
	case r.columns[column].Format == pgx.TextFormatCode:
		n, _ := strconv.ParseInt(string(b), 10, 64) // written by the server: never fails
		return n
	case len(b) == 2:
		return int64(int16(binary.BigEndian.Uint16(b))) //nolint:gosec // the bit pattern
	case len(b) == 4:
		return int64(int32(binary.BigEndian.Uint32(b))) //nolint:gosec // the bit pattern
	default:
		return int64(binary.BigEndian.Uint64(b)) //nolint:gosec // the bit pattern
	}
}

func (r row) Bytes(column int) []byte {
	b := r.values[column]
	if r.columns[column].Format != pgx.TextFormatCode || b == nil {
		return b
	}
	decoded, _ := hex.DecodeString(strings.TrimPrefix(string(b), `\x`)) // written by the server: never fails
	return decoded
}

// each calls next for each row, and closes rows.
func each(rows pgx.Rows, next func(store.Row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := next(row{rows.RawValues(), rows.FieldDescriptions()}); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *conn) bounded(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout)
	defer cancel()
	return wrapError(f(ctx))
}

// Query implements store.Conn.
func (c *conn) Query(statement string, next func(store.Row) error, args ...any) error {
	if err := c.flush(); err != nil {
		return err
	}
	return c.bounded(func(ctx context.Context) error {
		rows, _ := c.tx.Query(ctx, c.text(statement), args...) // rows have the error
		return each(rows, next)
	})
}

// Exec implements store.Conn.
func (c *conn) Exec(statement string, args ...any) error {
	c.queued.Queue(c.text(statement), args...)
	c.wrote = true
	return c.flushMany()
}

// maxQueued limits the statements per batch: they are held in memory, and share the timeout of a single
// statement.
const maxQueued = 1000

// flushMany sends the queue if it is full.
func (c *conn) flushMany() error {
	if c.queued.Len() < maxQueued {
		return nil
	}
	return c.flush()
}

// flush sends the queue.
func (c *conn) flush() error {
	if c.queued.Len() == 0 {
		return nil
	}
	queued := c.queued
	c.queued = pgx.Batch{}
	return c.bounded(func(ctx context.Context) error { return c.tx.SendBatch(ctx, &queued).Close() })
}

// manyRows is the number of rows above which COPY is used, which is faster than INSERT.
const manyRows = 100

// rowsAtOnce are the numbers of rows per INSERT: a few fixed numbers, so that statements are prepared once.
var rowsAtOnce = [...]int{100, 10, 1}

// values implements store.Values.
type values struct{ all []any }

func (v *values) Int(n int64)    { v.all = append(v.all, n) }
func (v *values) Text(s string)  { v.all = append(v.all, s) }
func (v *values) Bytes(b []byte) { v.all = append(v.all, b) }
func (v *values) Null()          { v.all = append(v.all, nil) }

// Insert implements store.Conn.
func (c *conn) Insert(table string, columns []string, conflict string, n int, value func(i int, v store.Values)) error {
	if n > manyRows && conflict == "" {
		return c.copy(table, columns, n, value)
	}
	for i := 0; i < n; {
		rows := 1
		for _, many := range rowsAtOnce {
			if n-i >= many {
				rows = many
				break
			}
		}
		v := values{make([]any, 0, rows*len(columns))}
		for j := range rows {
			value(i+j, &v)
		}
		c.queued.Queue(insertText(table, columns, rows)+conflict, v.all...)
		c.wrote = true
		if err := c.flushMany(); err != nil {
			return err
		}
		i += rows
	}
	return nil
}

// insertText returns the statement that inserts rows.
func insertText(table string, columns []string, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES ")
	for i := range rows {
		b.WriteString(strings.Repeat(", ", min(i, 1)) + "(")
		for j := range columns {
			b.WriteString(strings.Repeat(", ", min(j, 1)) + "$" + strconv.Itoa(i*len(columns)+j+1))
		}
		b.WriteString(")")
	}
	return b.String()
}

// copy inserts rows by COPY.
func (c *conn) copy(table string, columns []string, n int, value func(i int, v store.Values)) error {
	if err := c.flush(); err != nil {
		return err
	}
	c.wrote = true
	v := values{make([]any, 0, len(columns))}
	return c.bounded(func(ctx context.Context) error {
		_, err := c.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
			v.all = v.all[:0]
			value(i, &v)
			return v.all, nil
		}))
		return err
	})
}

// Written implements store.Conn.
func (c *conn) Written(head registry.Seq, digest []byte) {
	c.head, c.digest = head, slices.Clone(digest)
}

// Erased implements store.Conn. It does nothing: VACUUM is left to the administrator.
func (c *conn) Erased() {}

// channel is the channel of NOTIFY.
const channel = "urnd_registry"

// identity identifies a transaction after its connection was lost.
type identity struct {
	transaction string // transaction ID
	timeline    string // timeline of the server that assigned it; it changes at a failover
	started     string // start time of that server
	// head is the last Seq that the transaction has written, and digest that of its commit; nil if it has
	// written none.
	head   registry.Seq
	digest []byte
}

const timelineOf = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"

// startOf is the start time of the server.
const startOf = "pg_postmaster_start_time()::text"

// seal queues a notification for other instances, which is sent at the commit, and returns the identity of the
// transaction.
func (c *conn) seal() (id identity, err error) {
	statement := "SELECT pg_current_xact_id()::text, " + timelineOf + ", " + startOf
	if c.head != 0 {
		statement += ", pg_notify('" + channel + "', '')::text"
	}
	err = c.Query(statement, func(r store.Row) error {
		id = identity{transaction: r.Text(0), timeline: r.Text(1), started: r.Text(2), head: c.head, digest: c.digest}
		return nil
	})
	return id, err
}

// statement returns a statement in the dialect of PostgreSQL. Translations are cached by their text.
func (s *Store) statement(text string) string {
	if translated, ok := s.texts.Load(text); ok {
		return translated.(string) //nolint:forcetypeassert // only strings are stored
	}
	translated := store.PostgreSQL().Statement(text)
	s.texts.Store(text, translated)
	return translated
}

// rowCopy is a row that outlives its statement.
type rowCopy struct{ row }

// copyRows returns copies of the rows of a statement.
func copyRows(rows pgx.Rows) (all []rowCopy, err error) {
	err = each(rows, func(r store.Row) error {
		one, ok := r.(row)
		if !ok {
			return fmt.Errorf("a row of type %T", r)
		}
		values := make([][]byte, len(one.values))
		for i, v := range one.values {
			values[i] = slices.Clone(v)
		}
		all = append(all, rowCopy{row{values, one.columns}})
		return nil
	})
	return all, err
}
