package main

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/token"
	"github.com/urnd/urnd/systemd"
)

// maxJobBody bounds the body of a job, in octets: some ten million names.
const maxJobBody = 4 << 30

// wireAdminRegistry returns what clients of the admin interface do with the registry, nil where there is none. What runs
// in the background ends with the configuration: jobs go on with the next one.
func wireAdminRegistry(c config.Config, r *resolution, s *service, d dependencies) *admin.Registry {
	if r.registry == nil {
		return nil
	}
	names := newRegistry(r.registry, r.names, d.now, d.log)
	tokens := token.NewVerifier(names)
	made := &admin.Registry{Names: names, Mints: mint.New(names), Tokens: tokens}
	run := []func(ctx context.Context){func(ctx context.Context) {
		tokens.Run(ctx, func(err error) {
			d.log.Warn("when tokens of the registry were used could not be recorded", "error", err)
		})
	}}
	if directory := jobsDirectory(c); directory != "" {
		all := jobs.New(jobs.Config{Registry: names, Directory: directory, MaxBody: maxJobBody, Log: d.log})
		made.Jobs = all
		run = append(run, all.Run)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.starters = append(r.starters, func() {
		for _, f := range run {
			running.Go(func() { f(ctx) })
		}
	})
	s.closers = append(s.closers, func() {
		cancel()
		running.Wait()
	})
	return made
}

// jobsDirectory returns the directory for the bodies of jobs: in the state directory, or beside the file of the registry; ""
// where there is neither.
func jobsDirectory(c config.Config) string {
	state := c.Cache.Directory
	if state == "" {
		state = systemd.StateDirectory()
	}
	if state != "" {
		return filepath.Join(state, "registry-jobs")
	}
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		return path + "-jobs"
	}
	return ""
}
