// Package postgres stores a registry in a PostgreSQL database, version 15 or newer, which several processes on
// several machines may use at the same time. The statements of package store enter; rows, notifications of
// changes, and errors that wrap those of package registry leave. It relies on the documented behavior of
// PostgreSQL: transaction isolation (READ COMMITTED, REPEATABLE READ), advisory locks, LISTEN and NOTIFY.
//
// # The order of changes
//
// A reader that has seen the version with one Seq never misses a smaller Seq that is committed later. Therefore
// a Seq is a valid cursor of the feed of changes. This rests on the following facts:
//
//   - Only one transaction writes at a time: each begins by acquiring the same advisory lock, and holds it
//     until it has ended. PostgreSQL makes a commit visible before it releases the locks.
//   - A writer sees everything that was committed before it acquired the lock: the transaction is READ
//     COMMITTED, in which every statement has a snapshot of its own, and the snapshots of the statements after
//     the lock are younger than it.
//   - A new Seq is the greatest Seq in the table plus 1. A writer without the lock (a person with psql, or a
//     server without advisory locks) cannot break the order, since seq is the primary key: its insertion waits
//     for the other writer and then fails. But it can overwrite changes of documents: all writes must use this
//     package.
//   - With synchronous replicas, PostgreSQL waits for them before it makes the commit visible, while it holds
//     the lock: no reader sees a commit that a failover would undo, unless an administrator cancels that wait.
//   - After a failover to an asynchronous replica, after a crash during Bulk, and after the restore of an old
//     backup, the last versions may be lost, and their Seqs are assigned again. registry.Feed detects that by
//     the last change that it has read.
//
// # Replicas
//
// Lookup and Floor query the replica, if there is one. Read, Head and Write query the primary; Read and Head
// fall back to the replica if the primary cannot be reached. The replica may lag, and the connections of one
// DSN may lead to different replicas. Therefore each lookup returns the last Seq of the replica in the same
// batch. If this instance has seen a greater Seq (by Head, by the feed, or by its own Write), it queries the
// primary instead. Hence a lookup after the feed has reported a change is at least as recent as that change. If
// the primary is unavailable, a replica that lags does not serve lookups.
//
// # Failures
//
// The functions passed to Read and Write are called at most once: only the steps before them are retried. If
// the response to a commit is lost, the status of the transaction is queried by its ID, on the same timeline;
// if that yields no result in time, the error wraps ErrUnknownOutcome. A client that disappears while it holds the
// lock is disconnected by the server, by the timeouts that every write transaction sets.
//
// PgBouncer may pool transactions: no statement needs a session, but hints are lost. If PgBouncer does not
// support prepared statements (max_prepared_statements is 0, or its version is before 1.21), the URL must have
// default_query_exec_mode=exec.
package postgres
