package sqlite

import (
	"context"

	"github.com/ncruces/go-sqlite3"
)

// maxFaults bounds the faults of one kind that Check reports.
const maxFaults = 100

// Check reports the faults of the file that only SQLite can see: pages and indexes that do not fit,
// and names that lead to no version of theirs. registry.Verify finds the others. The error is not nil
// where it could not be checked at all.
func (s *Store) Check(ctx context.Context, report func(fault string)) error {
	return s.transactions.with(ctx, func(c *conn) error {
		return s.whileFrozen(func() error { return c.within(ctx, "BEGIN", func() error { return c.check(report) }) })
	})
}

func (c *conn) check(report func(fault string)) error {
	faults := 0
	// quick_check does not compare indexes: names is one, without a table, and is compared below.
	err := c.query("PRAGMA quick_check", func(s *sqlite3.Stmt) error {
		if text := s.ColumnText(0); text != "ok" {
			faults++
			report(text)
		}
		return nil
	})
	if err != nil || faults > 0 {
		return err // questions about what cannot be read would fail
	}
	return c.query(`SELECT n.kind, n.name, n.seq FROM names n LEFT JOIN versions v ON v.seq = n.seq
		WHERE v.seq IS NULL OR v.kind <> n.kind OR v.name <> n.name OR v.rec IS NULL LIMIT ?`, func(s *sqlite3.Stmt) error {
		report("the current version of " + s.ColumnText(1) + " is number " + s.ColumnText(2) + ", which is not a version of it")
		return nil
	}, int64(maxFaults))
}
