package jobs

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Run runs jobs sequentially until ctx is done. A job that it interrupts then continues in the next Run.
func (j *Jobs) Run(ctx context.Context) {
	ticker := time.NewTicker(searchedEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if j.next(ctx) {
			continue
		}
		select {
		case <-ctx.Done():
		case <-j.wake:
		case <-ticker.C:
		}
	}
}

// next runs the first job of the queue, if its body is on this instance and no other process runs it. It
// reports whether it ran one. Later jobs are never run before it, because they may be about the same names.
func (j *Jobs) next(ctx context.Context) bool {
	here := j.bodies()
	if len(here) == 0 {
		return false
	}
	first, err := j.first(ctx, here)
	if err != nil || !slices.Contains(here, first) { // the store is unavailable, or another instance has the body
		return false
	}
	f := j.open(first, bodyFile)
	if f == nil {
		return false
	}
	defer f.Close()
	return j.take(ctx, first, f)
}

// first returns the first job of the queue, the zero value if it is empty. Jobs of an instance that has been
// silent for too long are skipped; the jobs of this instance are updated as a heartbeat. Bodies without an
// unfinished job are removed.
func (j *Jobs) first(ctx context.Context, here []spooled) (first spooled, err error) {
	now := j.config.Registry.Now()
	known := make(map[spooled]bool)
	// A write transaction, because a read replica may lag behind.
	err = j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) error {
		first = spooled{}
		clear(known)
		all, err := queued(tx)
		for _, one := range all {
			at, silent := spooled{one.of.Token, one.id}, now.Sub(one.of.Updated)
			isHere := slices.Contains(here, at)
			if !isHere && silent > heartbeatTimeout {
				continue
			}
			if known[at] = true; first == (spooled{}) {
				first = at
			}
			if isHere && silent > heartbeatInterval && err == nil {
				err = updateHeartbeat(tx, one.id, now)
			}
		}
		return err
	})
	if err != nil {
		return spooled{}, err
	}
	for _, at := range here {
		if !known[at] {
			j.removeOrphan(ctx, at)
		}
	}
	return first, nil
}

// updateHeartbeat updates the heartbeat of a job.
func updateHeartbeat(tx registry.WriteTx, id string, now time.Time) error {
	found, err := read(tx, id)
	if err != nil {
		return err
	}
	found.Updated = now
	return put(tx, found)
}

// removeOrphan removes a body without an unfinished job.
func (j *Jobs) removeOrphan(ctx context.Context, at spooled) {
	f := j.open(at, bodyFile)
	if f == nil { // it is still being accepted
		return
	}
	defer f.Close()
	err := j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) error {
		found, err := read(tx, at.id)
		if err == nil && found.State.ended() {
			err = registry.ErrUnknownJob
		}
		return err
	})
	if errors.Is(err, registry.ErrUnknownJob) {
		j.remove(bodyFile, at)
	}
}

// take runs a job whose body is locked, and reports whether it did.
func (j *Jobs) take(ctx context.Context, at spooled, body *os.File) bool {
	found, err := j.change(ctx, at.id, func(tx registry.WriteTx, s *storedJob) error {
		if s.State.ended() {
			return nil
		}
		s.State = Running
		if s.Started.IsZero() {
			s.Started = j.config.Registry.Now()
		}
		return begin(tx, *s)
	})
	switch {
	case errors.Is(err, registry.ErrUnknownJob), err == nil && found.State.ended():
		j.remove(bodyFile, at)
		return false
	case err != nil: // the store is unavailable; the job remains queued
		return false
	}
	j.config.Log.InfoContext(ctx, "registry job started", "job", at.id, "by", found.By, "token", found.Actor.Token,
		"bytes", found.Size)
	end := j.run(ctx, found, body)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishedWithin)
	defer cancel()
	if found, err = j.change(last, at.id, ending(end)); err != nil {
		j.config.Log.WarnContext(ctx, "registry job result write failed, repeating the job", "job", at.id,
			"error", err)
		return false
	}
	j.logEnd(ctx, found)
	if !found.State.ended() {
		return false
	}
	j.remove(bodyFile, at)
	j.trim(at.token)
	return true
}

// logEnd writes the audit record of a job. Its names have versions with their authors.
func (j *Jobs) logEnd(ctx context.Context, of storedJob) {
	attributes := []any{
		"job", of.ID, "state", string(of.State), "by", of.By, "token", of.Actor.Token, "client", of.Actor.Client,
		"request", of.Actor.Request, "note", of.Note,
	}
	if r := of.Report; r != nil {
		attributes = append(attributes, "lines", r.Lines, "new", r.New, "changed", r.Changed, "unchanged", r.Unchanged,
			"rejected", r.Rejected, "dry_run", of.DryRun)
	}
	if of.Error != "" {
		attributes = append(attributes, "error", of.Error)
	}
	j.config.Log.InfoContext(ctx, "registry job ended", attributes...)
}

// change updates the document of a job.
func (j *Jobs) change(
	ctx context.Context, id string, f func(registry.WriteTx, *storedJob) error,
) (changed storedJob, err error) {
	err = j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) error {
		found, err := read(tx, id)
		if err == nil {
			err = f(tx, &found)
		}
		if err != nil {
			return err
		}
		found.Updated, changed = j.config.Registry.Now(), found
		return put(tx, found)
	})
	return changed, err
}

// ending adapts the final update of a job. The position of its import or rewrite is removed with it: until then a
// repeated job writes nothing, and does not undo what was changed since.
func ending(f func(*storedJob)) func(registry.WriteTx, *storedJob) error {
	return func(tx registry.WriteTx, s *storedJob) error {
		f(s)
		if s.State != Done {
			return nil
		}
		return tx.Put(registry.TableImports, []registry.Document{{Key: s.source()}})
	}
}

// always adapts a change that cannot fail.
func always(f func(*storedJob)) func(registry.WriteTx, *storedJob) error {
	return func(_ registry.WriteTx, s *storedJob) error {
		f(s)
		return nil
	}
}
