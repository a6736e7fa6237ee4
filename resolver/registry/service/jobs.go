package service

import (
	"context"
	"os"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// HasJobs reports whether many names can be changed in the background.
func (s *Service) HasJobs() bool { return s.config.Jobs != nil }

// ofJobs calls f with the jobs, if there can be any, and the actor may make a use of them. Which of them it may know of, they decide.
func ofJobs[T any](s *Service, actor registry.Actor, use Use, f func(*jobs.Jobs) (T, error)) (none T, err error) {
	if err := use.Check(actor, registry.KindName); err != nil {
		return none, err
	}
	if s.config.Jobs == nil {
		return none, registry.ErrNoJobs
	}
	return f(s.config.Jobs)
}

// Accept keeps a job to be run. The same upload with the same key is the same job.
func (s *Service) Accept(ctx context.Context, actor registry.Actor, u jobs.Upload) (jobs.Job, error) {
	return ofJobs(s, actor, ToImport, func(all *jobs.Jobs) (jobs.Job, error) {
		job, _, err := all.Accept(ctx, actor, u)
		return job, err
	})
}

// Jobs returns the jobs that an actor may know of, the newest first.
func (s *Service) Jobs(ctx context.Context, actor registry.Actor) ([]jobs.Job, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) ([]jobs.Job, error) { return all.List(ctx, actor) })
}

// Job returns a job that an actor may know of.
func (s *Service) Job(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (jobs.Job, error) { return all.Get(ctx, actor, id) })
}

// Cancel cancels a job, and returns it; ErrJobEnded where it is too late.
func (s *Service) Cancel(ctx context.Context, actor registry.Actor, id string) (jobs.Job, error) {
	return ofJobs(s, actor, ToImport, func(all *jobs.Jobs) (jobs.Job, error) { return all.Cancel(ctx, actor, id) })
}

// Rejected returns the rejected lines of a job, as NDJSON of jobs.Rejection. The caller closes it.
func (s *Service) Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (*os.File, error) { return all.Rejected(ctx, actor, id) })
}

// Conflicts returns at most n conflicts of a job after the first ones, and whether there are more.
func (s *Service) Conflicts(ctx context.Context, actor registry.Actor, id string, after, n int) (page []jobs.Conflict, more bool, err error) {
	page, err = ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (found []jobs.Conflict, err error) {
		found, more, err = all.Conflicts(ctx, actor, id, after, n)
		return found, err
	})
	return page, more, err
}

// Differences returns what a job that is a dry run would change, as NDJSON of diff.Change. The caller closes it.
func (s *Service) Differences(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	return ofJobs(s, actor, ToRead, func(all *jobs.Jobs) (*os.File, error) { return all.Differences(ctx, actor, id) })
}
