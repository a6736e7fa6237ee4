package health

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// walk is the walk over all names, while the lease is held.
type walk struct {
	*Checker
	postponed []job // jobs whose servers have requested a delay

	rechecked  time.Time          // start of the last walk over targets to recheck
	rechecking bool               // that walk is in progress
	after      registry.HealthKey // its position
}

const (
	// maxPostponed bounds the postponed jobs: further ones wait for the next sweep.
	maxPostponed = 10_000
	// recheckEvery is the interval between walks over targets to recheck.
	recheckEvery = time.Hour
)

// step does the next checks, and returns the delay until the next step.
func (w *walk) step(ctx context.Context) (wait time.Duration, err error) {
	if err := w.again(ctx); err != nil {
		return 0, err
	}
	if err := w.recheck(ctx); err != nil {
		return 0, err
	}
	wait, err = w.forward(ctx)
	if len(w.postponed) > 0 {
		wait = min(wait, again)
	}
	return min(wait, idle), err
}

// forward checks the next names, if they are due.
func (w *walk) forward(ctx context.Context) (wait time.Duration, err error) {
	now := w.config.Now()
	var s Sweep
	var p page
	err = w.config.Store.Read(ctx, func(tx registry.Tx) error {
		if s, err = readSweep(tx); err != nil {
			return err
		}
		s.Interval = w.config.Interval
		if s.Started.After(now.Add(leaseTime)) { // by a clock that was ahead
			s.Started = s.Started.Add(now.Sub(s.Due()))
		}
		if wait = s.Due().Sub(now); wait > 0 {
			return nil
		}
		if s.Lag(now) > s.Interval && s.Ended.IsZero() {
			s.Started = s.Started.Add(s.Lag(now)) // after a long pause, spread the rest evenly again
		}
		if s.Started.IsZero() || !s.Ended.IsZero() {
			if err = s.begin(tx, now); err != nil {
				return err
			}
		}
		p, err = readPage(tx, "", s.Position, s.page(), now)
		return err
	})
	if err != nil || wait > 0 {
		return wait, err
	}
	results, err := w.round.run(ctx, p.jobs)
	if err != nil || ctx.Err() != nil {
		return 0, err
	}
	w.postpone(results)
	return 0, w.config.Store.Bulk(ctx, func(tx registry.WriteTx) error {
		return w.passed(tx, s, p, results)
	})
}

// begin starts a new sweep.
func (s *Sweep) begin(tx registry.Tx, now time.Time) error {
	all, err := tx.Totals()
	if err != nil {
		return err
	}
	s.Started, s.Ended, s.Position, s.Names, s.Total, s.Unrecorded = now.UTC(), time.Time{}, "", 0, 0, 0
	s.Outcomes = make(map[Outcome]int64)
	for _, t := range all {
		s.Total += t.Active + t.Reserved + t.Withdrawn
	}
	return nil
}

// passed records that a page was passed. walked is the sweep at the time of reading the page; a check on
// demand may have changed the counts of stored targets since.
func (w *walk) passed(tx registry.WriteTx, walked Sweep, p page, results []checkResult) error {
	if err := w.lease.Check(tx); err != nil {
		return err
	}
	s, err := readSweep(tx)
	if err != nil {
		return err
	}
	points, err := readPassed(tx)
	if err != nil {
		return err
	}
	walked.States, walked.Revision = s.States, s.Revision
	started := walked.Position == ""
	if started {
		points = passed{Previous: points.Current}
	}
	s = walked
	now := w.config.Now().UTC()
	s.Moved, s.Names, s.Position = now, s.Names+int64(p.n), p.last
	if p.end {
		s.Ended = now
	}
	for _, c := range results {
		s.Outcomes[c.Outcome]++
	}
	if err := record(tx, &s, results, now); err != nil {
		return err
	}
	if err := remove(tx, &s, p.gone); err != nil {
		return err
	}
	if points.pass(p.last, now, s.Interval) || started {
		if err := write(tx, keyPassed, points); err != nil {
			return err
		}
	}
	return write(tx, keySweep, s)
}

// postpone stores the jobs whose servers have requested a delay.
func (w *walk) postpone(results []checkResult) {
	for _, c := range results {
		if c.Outcome == Later && len(w.postponed) < maxPostponed {
			w.postponed = append(w.postponed, c.job)
		}
	}
}

// again checks postponed jobs whose delay is over.
func (w *walk) again(ctx context.Context) error {
	var now page
	var others []job
	for _, j := range w.postponed {
		u, _ := checkable(j.uri)
		if len(now.jobs) < maxPage && w.hosts.waits(serverOf(u)) <= w.config.Pause {
			now.jobs = append(now.jobs, j)
		} else {
			others = append(others, j)
		}
	}
	results, err := w.check(ctx, now)
	if err != nil || ctx.Err() != nil {
		return err
	}
	w.postponed = others
	w.postpone(results)
	return nil
}

// recheck checks the next part of the targets to recheck.
func (w *walk) recheck(ctx context.Context) error {
	now := w.config.Now()
	if !w.rechecking {
		if now.Sub(w.rechecked) < min(recheckEvery, w.config.Interval) {
			return nil
		}
		w.rechecking, w.rechecked, w.after = true, now, registry.HealthKey{}
	}
	var due page
	err := w.config.Store.Read(ctx, func(tx registry.Tx) (err error) {
		due, err = readDue(tx, w.after, now, min(recheck, w.config.Interval))
		return err
	})
	if err == nil {
		_, err = w.check(ctx, due)
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	w.after, w.rechecking = due.next, !due.end
	return nil
}

// check checks the targets of a page outside the sweep.
func (w *walk) check(ctx context.Context, p page) ([]checkResult, error) {
	if len(p.jobs) == 0 && len(p.gone) == 0 {
		return nil, nil
	}
	results, err := w.round.run(ctx, p.jobs)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return results, w.config.Store.Bulk(ctx, func(tx registry.WriteTx) error {
		if err := w.lease.Check(tx); err != nil {
			return err
		}
		return recordNow(tx, p.gone, results, w.config.Now())
	})
}

// recordNow records results outside the sweep, and deletes stored targets.
func recordNow(tx registry.WriteTx, gone []registry.HealthKey, results []checkResult, now time.Time) error {
	s, err := readSweep(tx)
	if err != nil {
		return err
	}
	if err := record(tx, &s, results, now); err != nil {
		return err
	}
	if err := remove(tx, &s, gone); err != nil {
		return err
	}
	return write(tx, keySweep, s)
}
