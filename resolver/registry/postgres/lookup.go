package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urnd/urnd/resolver/registry"
)

// The questions of look-ups.
const (
	lookupQuestion = "SELECT " + columns + " FROM names n JOIN versions v ON v.seq = n.seq WHERE n.kind = $1 AND n.name = $2"
	floorQuestion  = "SELECT " + columns + ` FROM names n JOIN versions v ON v.seq = n.seq
		WHERE n.kind = 1 AND n.name <= $1 ORDER BY n.name DESC LIMIT 1`
	headQuestion = "SELECT coalesce(max(seq), 0) FROM versions"
)

// withHead makes a question one that has the last Seq of the same moment before its columns, in a row also
// where there is nothing else.
func withHead(question string) string {
	return "SELECT h.head, q.* FROM (SELECT coalesce(max(seq), 0) AS head FROM versions) h LEFT JOIN (" + question + ") q ON true"
}

// Lookup implements registry.Store.
func (s *Store) Lookup(ctx context.Context, key registry.Key) (registry.Entry, error) {
	if !mayExist(key.Name) {
		return registry.Entry{}, nil
	}
	return s.lookUp(ctx, lookupQuestion, int16(key.Kind), key.Name)
}

// Floor implements registry.Store.
func (s *Store) Floor(ctx context.Context, text string) (registry.Entry, error) {
	if err := isValid(text); err != nil {
		return registry.Entry{}, err
	}
	return s.lookUp(ctx, floorQuestion, text)
}

// lookUp asks a question on one entry.
func (s *Store) lookUp(ctx context.Context, question string, args ...any) (e registry.Entry, err error) {
	if s.replica != nil {
		least := s.seen.Load()
		err := s.replica.try(ctx, func(ctx context.Context, pool *pgxpool.Pool) error {
			var head registry.Seq
			head, e, err = askWithHead(ctx, pool, question, args)
			if err == nil && int64(head) < least {
				err = errLate
			}
			return err
		})
		if err == nil {
			return e, nil
		}
	}
	err = again(ctx, lookupTimeout, s.primary, func(ctx context.Context) (err error) {
		e, err = ask(ctx, s.primary, question, args)
		return err
	})
	return e, kindOf(err)
}

// Head implements registry.Store.
func (s *Store) Head(ctx context.Context) (head registry.Seq, err error) {
	get := func(ctx context.Context, pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, headQuestion).Scan(&head)
	}
	seen := s.seen.Load()
	err = again(ctx, lookupTimeout, s.primary, func(ctx context.Context) error { return get(ctx, s.primary) })
	if err == nil && int64(head) < seen { // the primary has lost changes
		s.seen.CompareAndSwap(seen, int64(head))
	}
	if err != nil && s.replica != nil && s.replica.try(ctx, get) == nil {
		err = nil
	}
	if err != nil {
		return 0, kindOf(err)
	}
	s.see(head)
	return head, nil
}

// again asks a question that changes nothing, once more if the connection was lost: the server may have
// restarted since it was made.
func again(ctx context.Context, timeout time.Duration, pool *pgxpool.Pool, question func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := question(ctx)
	if err != nil && ctx.Err() == nil && isLost(err) {
		pool.Reset()
		err = question(ctx)
	}
	return err
}

// ask asks a question on one entry.
func ask(ctx context.Context, pool *pgxpool.Pool, question string, args []any) (e registry.Entry, err error) {
	rows, _ := pool.Query(ctx, question, args...) // rows have the error
	err = each(rows, func() (err error) {
		e, err = entryOf(rows)
		return err
	})
	return e, err
}

// askWithHead asks a question on one entry, and for the last Seq.
func askWithHead(ctx context.Context, pool *pgxpool.Pool, question string, args []any) (head registry.Seq, e registry.Entry, err error) {
	rows, _ := pool.Query(ctx, withHead(question), args...) // rows have the error
	err = each(rows, func() error {
		var seq, prev *int64
		var kind *int16
		var name *string
		var rec pgtype.DriverBytes
		if err := rows.Scan(&head, &seq, &prev, &kind, &name, &rec); err != nil || seq == nil {
			return err
		}
		e = registry.Entry{Seq: registry.Seq(*seq), Prev: registry.Seq(*prev), Key: registry.Key{Kind: registry.Kind(*kind), Name: *name}} //nolint:gosec // 0 or 1
		return registry.Decode(&e, rec)
	})
	return head, e, err
}

// each calls row for each row, and closes rows.
func each(rows pgx.Rows, row func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}
