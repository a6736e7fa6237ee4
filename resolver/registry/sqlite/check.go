package sqlite

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver/registry/store"
)

// maxProblems limits how many problems Check reports.
const maxProblems = 100

// Check implements store.Database.
func (s database) Check(ctx context.Context, report func(problem string)) error {
	return s.transactions.with(ctx, func(c *conn) error {
		return s.readUnchanged(func() error { return c.within(ctx, "BEGIN", func() error { return c.check(report) }) })
	})
}

func (c *conn) check(report func(problem string)) error {
	found := 0
	add := func(problem string) {
		if found++; found <= maxProblems {
			report(problem)
		}
	}
	err := c.Query("PRAGMA integrity_check", func(row store.Row) error {
		if text := row.Text(0); text != "ok" {
			add(text)
		}
		return nil
	})
	if err != nil || found > 0 {
		return err // a statement on unreadable pages would fail
	}
	return c.Query("PRAGMA foreign_key_check", func(row store.Row) error {
		add(fmt.Sprintf("row %d of %s: dangling reference to %s", row.Int(1), row.Text(0), row.Text(2)))
		return nil
	})
}
