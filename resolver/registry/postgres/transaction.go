package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/store"
)

// The statements that begin a transaction. A write transaction sets the timeouts of the server: for the lock,
// for a statement, and for an idle client, which may have disappeared while it holds the lock.
const (
	beginRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	beginWrite = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '30s'; SET LOCAL statement_timeout " +
		"= '60s'; SET LOCAL idle_in_transaction_session_timeout = '30s'; "
	beginBulk = beginWrite + "SET LOCAL synchronous_commit = off; "
)

// lock returns the statement that waits for all other writers.
func lock() string { return "SELECT pg_advisory_xact_lock(" + strconv.FormatInt(writeLock, 10) + ")" }

// begin begins a transaction. It retries if the connection was lost, as by a restart of the server: no
// statement that must not be repeated has run yet.
func begin(ctx context.Context, timeout time.Duration, pool *pgxpool.Pool, statement string) (tx pgx.Tx, err error) {
	err = retryOnce(ctx, timeout, pool, func(ctx context.Context) (err error) {
		tx, err = pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: statement})
		return err
	})
	return tx, wrapError(err)
}

// Read implements store.Database.
func (s database) Read(ctx context.Context, f func(store.Conn) error) error {
	tx, err := begin(ctx, queryTimeout, s.primary, beginRead)
	if err != nil && s.replica != nil {
		if s.replica.try(ctx, func(ctx context.Context, pool *pgxpool.Pool) (err error) {
			tx, err = s.beginAtReplica(ctx, pool)
			return err
		}) == nil {
			s.setPrimaryUnavailable(err)
			err = nil
		}
	}
	if err != nil {
		return err
	}
	defer rollback(ctx, tx)
	return f(&conn{ctx: ctx, tx: tx, timeout: queryTimeout, text: s.statement})
}

// beginAtReplica begins a transaction on a replica, or returns errReplicaLag if the replica lags: changes that were
// seen would appear to be lost.
func (s *Store) beginAtReplica(ctx context.Context, pool *pgxpool.Pool) (pgx.Tx, error) {
	tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: beginRead})
	if err != nil {
		return nil, err
	}
	var head int64
	err = tx.QueryRow(ctx, headStatement).Scan(&head)
	if err == nil && head < s.seen.Load() {
		err = errReplicaLag
	}
	if err != nil {
		rollback(ctx, tx)
		return nil, err
	}
	return tx, nil
}

// rollback rolls a transaction back.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancel()
	_ = tx.Rollback(ctx) // on failure the connection is closed, and the server rolls back
}

// Write implements store.Database.
func (s database) Write(ctx context.Context, relaxed bool, f func(store.Conn) error) error {
	if relaxed {
		_, err := s.write(ctx, beginBulk, f)
		return err
	}
	head, err := s.write(ctx, beginWrite, f)
	if err == nil {
		s.Known(head) // later reads must see it
	}
	return err
}

// errWriterBusy means that other writers of this instance took too long.
var errWriterBusy = fmt.Errorf("%w: lock timeout, others are writing", registry.ErrUnavailable)

// lockWriter waits for the other writers of this instance.
func (s *Store) lockWriter(ctx context.Context) (end func(), err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, writerTimeout, errWriterBusy)
	defer cancel()
	if err := s.writing.Acquire(bounded); err != nil {
		return nil, wrapError(err)
	}
	return s.writing.Release, nil
}

// write calls f in a transaction, and returns the last Seq that it has written, 0 for none.
func (s *Store) write(ctx context.Context, statement string, f func(store.Conn) error) (registry.Seq, error) {
	end, err := s.lockWriter(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	tx, err := begin(ctx, writeTimeout, s.primary, statement+lock())
	if err != nil {
		return 0, err
	}
	t := &conn{ctx: ctx, tx: tx, timeout: writeTimeout, text: s.statement}
	defer rollback(ctx, tx) // no effect after a commit
	err = f(t)
	if err == nil {
		err = t.flush() //nolint:contextcheck // it has the context
	}
	if err != nil {
		if isReadOnly(err) {
			s.primary.Reset() // another server may be the primary by now
			s.setReadOnly(fmt.Errorf("%w: %w", registry.ErrReadOnly, oneLine{err}))
		}
		return 0, err
	}
	if !t.wrote {
		return 0, nil
	}
	id, err := t.seal() //nolint:contextcheck // it has the context
	if err != nil {
		return 0, err
	}
	if err = s.commit(ctx, tx, id); err == nil {
		s.readOnlyErr.Store(nil)
	}
	return t.head, err
}

// commit commits a transaction. It ignores the cancellation of ctx, which would leave the outcome unknown.
func (s *Store) commit(ctx context.Context, tx pgx.Tx, id identity) error {
	ctx = context.WithoutCancel(ctx)
	bounded, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	err := tx.Commit(bounded)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxCommitRollback) || !isLost(err):
		return wrapError(fmt.Errorf("committing: %w", err))
	}
	committed, requested := s.outcome(ctx, id)
	switch {
	case requested != nil:
		return fmt.Errorf("%w: %w: %w", registry.ErrUnavailable, ErrUnknownOutcome, err)
	case committed:
		return nil
	default:
		return wrapError(fmt.Errorf("committing: %w", err))
	}
}
