package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/admin/session"
	adminstatus "github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry/audit"
	"github.com/urnd/urnd/resolver/registry/jobs"
	registryservice "github.com/urnd/urnd/resolver/registry/service"
)

// minToken is the minimum length of the token of administrators, in bytes.
const minToken = 16

var errShortToken = fmt.Errorf("access.admin_token: the token is shorter than %d bytes", minToken)

// newAdmin returns the handler of the admin interface. certificates returns the server certificates of urnd.
func newAdmin(
	c config.Config, r *resolution, s *service, certificates func() []*x509.Certificate, d dependencies,
) (*admin.Handler, error) {
	var origins config.Origins
	if d.origins != nil {
		origins = d.origins() // those of this configuration: a reload reads new ones
	}
	a := admin.Config{
		Clients: c.Access.AdminClients, Proxies: c.Access.AdminProxies, OwnHosts: ownHosts(c.Listen),
		RequireCertificate: c.TLS.ClientCA != "",
		Caches:             storedAnswers(c, r, d), Responses: stored.New(s.responses, s.purges, s.refresh, s.explain),
		HasResponses: gatewayInfos(c).Cacheable, Registry: wireAdminRegistry(c, r, s, d), PublicURL: c.Listen.PublicURL,
		Settings: admin.Settings{
			Values:   func() any { return config.ToPlain(c.Map()) },
			Origins:  func() any { return originsDocument(c, origins) },
			Sections: sync.OnceValue(func() []adminstatus.Section { return valuesOf(c, origins) }),
		},
		Metrics: d.metrics.Handler(), Health: func() (unready, degraded []string) { return r.report(d.health.Report) },
		Log: d.log, Pages: s.pages, Panicked: d.panicked,
		State: wireStatus(c, r, s, certificates, d),
	}
	if err := wireUsers(c, &a, r, d); err != nil {
		return nil, err
	}
	if c.Access.AdminToken != "" {
		token, err := secret.Read("access.admin_token", c.Access.AdminToken)
		if err != nil {
			return nil, err
		}
		if a.Token = bytes.TrimSpace(token); len(a.Token) < minToken {
			return nil, errShortToken
		}
	}
	return admin.New(a), nil
}

// wireUsers sets the state of browser users, which outlives a reload.
func wireUsers(c config.Config, a *admin.Config, r *resolution, d dependencies) (err error) {
	previous := d.previous.reusable()
	a.Sessions, err = shared.Reuse(&r.shared, previous, "sessions", nil, func() (*session.Sessions, func(), error) {
		return session.New(d.now), func() {}, nil
	})
	if err != nil || a.Registry == nil {
		return err
	}
	// Without a directory of jobs, the pages of drafts are disabled.
	directory := filepath.Join(jobsDirectory(c), "drafts")
	a.Registry.Drafts, err = shared.Reuse(&r.shared, previous, "drafts", directory,
		func() (*editor.Drafts, func(), error) {
			return editor.NewDrafts(directory, d.now), func() {}, nil
		})
	return err
}

// ownHosts returns the host names of this urnd.
func ownHosts(c config.Listen, others ...string) route.OwnHosts {
	return route.NewOwnHosts(append(ownNames(c), others...)...)
}

// storedAnswers returns the administration of the cache of answers. Purges are published to the other
// instances, and received from them.
func storedAnswers(c config.Config, r *resolution, d dependencies) stored.Answers {
	path := snapshotPath(c.Cache)
	made := stored.Answers{
		Names: r.names, Answers: r.answers, URNs: r.urns, URIs: r.uris, Servers: r.servers,
		PurgeRecords: r.records.Purge, PurgeDiscovered: func() { r.found.Purge(func(string) bool { return true }) },
		StopSaving: d.snapshot.Stop, RemoveSnapshot: func() error { return d.snapshot.Remove(path) },
		Metrics: func() []metrics.Cache { return observe.AllMetrics(r.caches) }, Purged: r.reportPurged,
	}
	if r.level == nil {
		return made
	}
	made.Publish = func(ctx context.Context, s resolver.Selection, soft bool) {
		publish(ctx, r.level, sharedPurge(s, soft), d)
	}
	r.closers = append(r.closers, r.level.Watch(func(p valkey.Purge) { purgeHere(made, r, p, d) }))
	return made
}

// purgeHere applies a purge of the log to the caches in memory.
func purgeHere(answers stored.Answers, r *resolution, p valkey.Purge, d dependencies) {
	switch {
	case p.Kind == "", isOfResponses(p): // "" is the beginning of the log
		return
	case p.Kind == valkey.PurgeEverything:
		if p.Soft {
			r.records.PurgeAll(r.records.Store, func(string) bool { return true }, true)
			// The server of the second level has lost its log. Caches in front need not be purged for that.
			answers.Purged = func(resolver.Selection) {}
		}
	case p.Kind == purgeNamespace, p.Kind == purgePrefix:
		// Records may be cached for names whose answers are not: new answers from them would be shared.
		if !p.Soft {
			r.records.Purge(func(string) bool { return true })
		}
	}
	if _, err := answers.PurgeHere(context.Background(), selectionOf(p), p.Soft); err != nil {
		d.log.Warn("purge from another instance failed", "error", err)
	}
}

// maxJobBody limits the body of a job, in bytes: some ten million names.
const maxJobBody = 4 << 30

// wireAdminRegistry returns the registry of the admin interface, nil without a registry. Its goroutines end
// with the configuration: the next one continues the jobs.
func wireAdminRegistry(c config.Config, r *resolution, s *service, d dependencies) *admin.Registry {
	if r.registry == nil {
		return nil
	}
	names := newRegistry(r.registry, r.names, d.now, d.log)
	settings := registryservice.Config{
		Registry: names, Conflict: d.metrics.RegistryConflict, Created: audit.LogTokenCreated(d.log),
		Revoked: audit.LogTokenRevoked(d.log),
	}
	var run []func(ctx context.Context)
	if directory := jobsDirectory(c); directory != "" {
		settings.Jobs = jobs.New(jobs.Config{Registry: names, Directory: directory, MaxBody: maxJobBody, Log: d.log})
		run = append(run, settings.Jobs.Run)
	}
	made := &admin.Registry{Service: registryservice.New(settings), ChecksTargets: c.Registry.HealthInterval > 0}
	run = append(run, func(ctx context.Context) {
		made.RunTokens(ctx, func(err error) {
			d.log.Warn("recording the last use of registry tokens failed", "error", err)
		})
	})
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

// jobsDirectory returns the directory for the bodies of jobs: in the state directory, or beside the file of
// the registry; "" without either.
func jobsDirectory(c config.Config) string {
	if state := stateDirectory(c.Cache); state != "" {
		return filepath.Join(state, "registry-jobs")
	}
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		return path + "-jobs"
	}
	return ""
}
