// Package postgres is a store of the registry in PostgreSQL 15 or newer, which several processes on
// several machines may use at once.
//
// # The order of changes
//
// A reader that has seen the version with one Seq never misses a smaller one that is committed later. That
// makes a Seq the cursor of the feed of changes, and rests on these facts:
//
//   - Writers are one at a time: each transaction begins with one advisory lock, which it holds until it
//     has ended. PostgreSQL makes a commit visible before it releases the locks.
//   - A writer sees all that was committed before it had the lock: the transaction is READ COMMITTED, in
//     which every statement has a snapshot of its own, and those after the lock are younger than it.
//   - Seq is the greatest one of the table and 1. A writer without the lock (a person with psql, or a server
//     without advisory locks) cannot break the order, since seq is the primary key: the insertion waits for
//     the other writer and then fails. But it can undo what is in documents: there is no other way to
//     write than by this package.
//   - With synchronous replicas, PostgreSQL waits for them before it makes the commit visible, holding the
//     lock: nobody sees what a failover would undo, unless an administrator cancels that wait.
//   - After a failover to a replica that is not synchronous, after a crash in the course of Bulk, and after an
//     old backup was restored, the last versions may be gone, and their Seqs be given again.
//     registry.Feed notices that by the last change that it has read.
//
// # Replicas
//
// Lookup and Floor ask the replica, where there is one; Read, Head and Write ask the primary, and Read and
// Head the replica only where the primary cannot be reached. The replica may be late, and the connections
// of one DSN may lead to several replicas. So each of its answers comes with its last Seq, by the same
// question, and where this instance has seen a later one (by Head, by Changes, or by a Write of its own),
// the primary is asked instead. Hence, what is looked up after the feed has told of a change is not older
// than that change. Where the primary is away, a replica that is late is not asked for look-ups.
//
// # Failures
//
// The functions passed to Read and Write are called at most once: only what comes before them is tried
// again. A commit whose answer was lost is asked for by its transaction id, on the same timeline; where that
// answers nothing in time the error wraps ErrOutcome. A client that has gone while it held the lock is
// ended by the server, by the timeouts that every writing transaction sets.
//
// PgBouncer may pool transactions: no question needs a session, and hints get lost there. Where it keeps no prepared statements
// (max_prepared_statements, before version 1.21 always), the URL has default_query_exec_mode=exec.
package postgres
