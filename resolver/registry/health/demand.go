package health

import (
	"context"

	"github.com/urnd/urnd/resolver/registry"
)

// demandPage is the number of names in one batch of a check on demand; results are reported after each batch.
const demandPage = 20

// Check immediately checks the targets of names that begin with prefix, and stores the results. each is
// called with each target after its check, in the order of names; Outcome may be Later. It needs no lease,
// and may run during a sweep.
func (c *Checker) Check(ctx context.Context, prefix string, each func(Target) error) error {
	for after := ""; ; {
		var p page
		err := c.config.Store.Read(ctx, func(tx registry.Tx) (err error) {
			p, err = readPage(tx, prefix, after, demandPage, c.config.Now())
			return err
		})
		if err != nil {
			return err
		}
		results, err := c.round.run(ctx, p.jobs)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		found, err := c.keep(ctx, p, results)
		if err != nil {
			return err
		}
		for _, t := range found {
			if err := each(t); err != nil {
				return err
			}
		}
		if p.end {
			return nil
		}
		after = p.last
	}
}

// keep stores results, and returns the resulting targets.
func (c *Checker) keep(ctx context.Context, p page, results []checkResult) (found []Target, err error) {
	if len(results) == 0 && len(p.gone) == 0 {
		return nil, nil
	}
	now := c.config.Now()
	err = c.config.Store.Bulk(ctx, func(tx registry.WriteTx) error {
		if err := recordNow(tx, p.gone, results, now); err != nil {
			return err
		}
		found = nil
		for _, r := range results {
			t, err := readTarget(tx, r.name, r.uri)
			if err != nil {
				return err
			}
			if after, _ := t.next(r.Result, now); t.State == "" && !after.Checked.IsZero() {
				t = after // it is healthy and not stored
			}
			t.Outcome, t.Status, t.Error = r.Outcome, r.Status, r.Error
			found = append(found, t)
		}
		return nil
	})
	return found, err
}
