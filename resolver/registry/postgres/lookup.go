package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// headStatement selects the last Seq.
const headStatement = "SELECT coalesce(max(last), 0) FROM commits"

// Lookup implements store.Database. It queries the replica, if that has all changes known to this instance, and
// otherwise the primary.
func (s database) Lookup(ctx context.Context, statement string, next func(store.Row) error, args ...any) error {
	text := s.statement(statement)
	var rows []rowCopy
	if s.replica != nil {
		least := s.seen.Load()
		err := s.replica.try(ctx, func(ctx context.Context, pool *pgxpool.Pool) (err error) {
			rows, err = queryReplica(ctx, pool, least, text, args)
			return err
		})
		if err == nil {
			return replay(rows, next)
		}
	}
	err := retryOnce(ctx, lookupTimeout, s.primary, func(ctx context.Context) (err error) {
		found, _ := s.primary.Query(ctx, text, args...) // rows have the error
		rows, err = copyRows(found)
		return err
	})
	if err != nil {
		return wrapError(err)
	}
	return replay(rows, next)
}

// replay calls next for each row.
func replay(rows []rowCopy, next func(store.Row) error) error {
	for _, r := range rows {
		if err := next(r.row); err != nil {
			return err
		}
	}
	return nil
}

// queryReplica queries a replica, and returns errReplicaLag if its last Seq is less than least. The Seq is read before
// the rows, which are therefore at least as recent.
func queryReplica(ctx context.Context, pool *pgxpool.Pool, least int64, text string, args []any) ([]rowCopy, error) {
	var batch pgx.Batch
	batch.Queue(headStatement)
	batch.Queue(text, args...)
	results := pool.SendBatch(ctx, &batch)
	defer results.Close() //nolint:errcheck // rows have the error
	var head int64
	if err := results.QueryRow().Scan(&head); err != nil {
		return nil, err
	}
	if head < least {
		return nil, errReplicaLag
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return copyRows(rows)
}

// Head implements registry.Store.
func (s *Store) Head(ctx context.Context) (head registry.Seq, err error) {
	get := func(ctx context.Context, pool *pgxpool.Pool) error {
		return pool.QueryRow(ctx, headStatement).Scan(&head)
	}
	seen := s.seen.Load()
	err = retryOnce(ctx, lookupTimeout, s.primary, func(ctx context.Context) error { return get(ctx, s.primary) })
	if err == nil && int64(head) < seen { // the primary has lost changes
		s.seen.CompareAndSwap(seen, int64(head))
	}
	if err != nil && s.replica != nil && s.replica.try(ctx, get) == nil {
		err = nil
	}
	if err != nil {
		return 0, wrapError(err)
	}
	database{s}.Known(head)
	return head, nil
}

// retryOnce runs a query, which must not change data, and repeats it once if the connection was lost: the server
// may have restarted since the connection was opened.
func retryOnce(
	ctx context.Context, timeout time.Duration, pool *pgxpool.Pool, question func(ctx context.Context) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := question(ctx)
	if err != nil && ctx.Err() == nil && isLost(err) {
		pool.Reset()
		err = question(ctx)
	}
	return err
}
