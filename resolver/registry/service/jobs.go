package service

import (
	"context"
	"os"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// HasJobs reports whether background jobs are available.
func (s *Service) HasJobs() bool { return s.config.Jobs != nil }

// ofJobs calls f with the jobs, unless jobs are not available (registry.ErrJobsDisabled) or the actor may not make the
// use (ErrDenied). Access to the single jobs is checked by package jobs.
func ofJobs[T any](
	s *Service, actor registry.Actor, use Permission, f func(*jobs.Jobs) (T, error),
) (none T, err error) {
	if err := use.Check(actor, registry.KindName); err != nil {
		return none, err
	}
	if s.config.Jobs == nil {
		return none, registry.ErrJobsDisabled
	}
	return f(s.config.Jobs)
}

// Accept stores a job for execution. A repeated upload with the same idempotency key returns the same job.
func (s *Service) Accept(ctx context.Context, actor registry.Actor, u jobs.Upload) (jobs.Job, error) {
	return ofJobs(s, actor, ToImport, func(all *jobs.Jobs) (jobs.Job, error) {
		job, _, err := all.Accept(ctx, actor, u)
		return job, err
	})
}

// LastSeq returns the Seq of the last version or event: by jobs.RewriteBody.AsOf, what is changed later is a conflict.
func (s *Service) LastSeq(ctx context.Context, actor registry.Actor) (registry.Seq, error) {
	if err := ToImport.Check(actor, registry.KindName); err != nil {
		return 0, err
	}
	return s.registry.Store().Head(ctx)
}

// Jobs returns the jobs that are visible to an actor, newest first.
func (s *Service) Jobs(ctx context.Context, actor registry.Actor) ([]jobs.Job, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) ([]jobs.Job, error) { return all.List(ctx, actor) })
}

// Job returns a job that is visible to an actor.
func (s *Service) Job(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (jobs.Job, error) { return all.Get(ctx, actor, id) })
}

// Cancel cancels a job, and returns it; ErrJobEnded if it has already ended.
func (s *Service) Cancel(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error) {
	return ofJobs(s, actor, ToImport, func(all *jobs.Jobs) (jobs.Job, error) { return all.Cancel(ctx, actor, id) })
}

// Rejected returns the rejected records of a job, as NDJSON of jobs.Rejection. The caller must close the file.
func (s *Service) Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (*os.File, error) { return all.Rejected(ctx, actor, id) })
}

// Conflicts returns at most n conflicts of a job after the first after ones, and whether there are more.
func (s *Service) Conflicts(
	ctx context.Context, actor registry.Actor, id string, after, n int,
) (page []jobs.Conflict, more bool, err error) {
	page, err = ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (found []jobs.Conflict, err error) {
		found, more, err = all.Conflicts(ctx, actor, id, after, n)
		return found, err
	})
	return page, more, err
}

// Differences returns the changes that a dry-run job would make, as NDJSON of diff.Change. The caller must
// close the file.
func (s *Service) Differences(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (*os.File, error) { return all.Differences(ctx, actor, id) })
}
