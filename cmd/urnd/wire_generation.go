package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/logs"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry/follow"
)

// newDaemon returns a daemon that reads its configuration with read. file is the watched file, "" for none.
func newDaemon(
	d dependencies, file string, read func() (config.Config, error), inherited map[string][]net.Listener,
) *daemon.Daemon {
	var made *daemon.Daemon
	log := func() (current *slog.Logger) {
		made.Use(func(g *daemon.Generation) { current = g.Log })
		return current
	}
	d.stopping = d.health.Stopping()
	d.panicked = func(value any, stack []byte) {
		d.metrics.Panic()
		log().Error("panic recovered: please report this bug in urnd", "panic", fmt.Sprint(value), "stack",
			string(stack))
	}
	d.registryState = func(err error) {
		if err != nil {
			log().Error("registry unavailable: uncached names get 503", "error", err)
			return
		}
		log().Info("registry available again")
	}
	d.sharedState = func(err error) {
		if err != nil {
			log().Warn("shared cache unavailable: this instance uses its own caches only", "setting", "cache.shared",
				"error", err)
			return
		}
		log().Info("shared cache available")
	}
	d.sharedPoisoned = func(what string) {
		log().Warn("shared cache server lost or changed data: all its entries were purged", "reason", what)
	}
	d.hookState = func(i int, err error) {
		setting := "cdn.webhooks." + strconv.Itoa(i)
		if err != nil {
			log().Warn("purge webhook failed, retrying", "setting", setting, "error", err)
			return
		}
		log().Info("purge webhook succeeded again", "setting", setting)
	}
	d.hookLost = func(i, tags int) {
		log().Error("purge webhook failed, tags dropped: purge the whole cache in front of urnd",
			"setting", "cdn.webhooks."+strconv.Itoa(i), "tags", tags)
	}
	d.registryMade = func(file string) { log().Info("registry created", "file", file) }
	made = daemon.New(daemon.Config{
		File: file, Inherited: inherited, Now: d.now, Health: d.health, Refused: d.metrics.RefusedConnection,
		AdjustGOGC:      os.Getenv("GOGC") == "",
		Deadline:        func(after time.Duration) time.Time { return time.Now().Add(after) },
		TooManyResponse: proxy.TooManyConnections,
		Load: func(previous *daemon.Generation) (*daemon.Generation, error) {
			c, err := read()
			if err != nil {
				return nil, err
			}
			var before *config.Config
			if previous != nil {
				inForce := wired(previous)
				d.previous, before = inForce.forNext(), &inForce.config
				d.placed = maps.Clone(inForce.service.placed)
			}
			g, err := newGeneration(c, inherited, d)
			if before != nil {
				*d.previous = resolution{} // functions of the generation keep d, and with it all previous ones
				clear(d.placed)
			}
			if err != nil && d.locate != nil {
				return nil, d.locate(err)
			}
			if err == nil && before != nil {
				g.ReloadLog = []any{"changed", strings.Join(config.Changes(*before, c), ", ")}
			}
			return g, err
		},
		Loaded: func(reload bool, err error) {
			if reload {
				d.metrics.Reload(err == nil, d.now())
				return
			}
			d.metrics.Loaded(d.now())
		},
		Listening: d.own.Set,
		Status: func() (text string) {
			made.Use(func(g *daemon.Generation) {
				text = observe.Status(wired(g).caches, made.Connections())
				if unready, _ := wired(g).report(d.health.Report); len(unready) > 0 {
					why, _, _ := strings.Cut(unready[0], "\n")
					text = "Not ready: " + why + "; " + text
				}
			})
			return text
		},
	})
	d.metrics.State(func() (state metrics.State) {
		made.Use(func(g *daemon.Generation) {
			connections := metrics.Limit{Name: "connections", Used: made.Connections(), Max: g.Connections.Connections}
			state = wired(g).state(d, connections)
		})
		return state
	})
	return made
}

// parts are the components of a generation.
type parts struct {
	*resolution
	config  config.Config
	service *service
	// webhooks notify the caches in front of purges.
	webhooks webhooks
	access   accesslog.Set
	// endKeeping stops the rotation of access logs; nil before keepAccessLogs.
	endKeeping func()
	// certificates is nil if no endpoint has TLS.
	certificates *certificate.Watcher
}

func wired(g *daemon.Generation) parts {
	p, _ := g.Parts.(parts)
	return p
}

// state returns the state that a scrape of the metrics reads.
func (p parts) state(d dependencies, connections metrics.Limit) metrics.State {
	unready, _ := p.report(d.health.Report)
	path, _ := cli.StoreFile(p.config.Registry.Store)
	s := metrics.State{
		Ready: len(unready) == 0, Config: p.config.Hash(), Caches: observe.AllMetrics(p.caches),
		Limits:        append([]metrics.Limit{connections}, p.limits.metrics()...),
		RegistryState: observe.RegistryOf(p.registry, path, d.now()), Targets: observe.Targets(p.service.checks),
		SiteServers: p.service.siteServers(), Upstreams: p.service.upstreamServers(), Lists: p.service.lists.states(),
		Helpers: p.service.helperStates(),
	}
	if p.certificates != nil {
		s.Certificates = p.certificates.Expiries()
	}
	if p.registry != nil {
		s.Registry = &metrics.Registry{Available: p.registry.Available(), Writable: p.registry.Writable()}
	}
	if p.level != nil {
		s.Shared = &metrics.Shared{Used: p.level.Stats().Used, Standalone: p.level.Standalone()}
	}
	if len(p.webhooks) > 0 {
		pending := p.webhooks.pending()
		s.WebhookPending = &pending
	}
	return s
}

func (p parts) close() {
	if p.service != nil {
		p.service.close()
	}
	if p.resolution != nil {
		p.resolution.close()
	}
	if p.endKeeping != nil {
		p.endKeeping()
	}
	p.access.Close()
}

// newGeneration returns the generation of a configuration, before it is in force.
func newGeneration(c config.Config, inherited map[string][]net.Listener, d dependencies) (*daemon.Generation, error) {
	var err error
	if d.log, err = openLog(c.Log, d); err != nil {
		return nil, err
	}
	if d.previous == nil { // otherwise the handler is replaced when this generation starts
		d.inForce.Set(d.log.Handler())
	}
	if d.access, err = openAccessLogs(c, d); err != nil {
		return nil, err
	}
	d.unusable = func(url string, reason error) {
		d.log.Warn("directory agent lists an invalid URL", "url", url, "reason", reason)
	}
	if d.warnings != nil {
		for _, warning := range d.warnings(c) {
			d.log.Warn("configuration warning", "warning", warning.String())
		}
	}
	p := parts{access: d.access, config: c}
	g, err := p.generation(c, inherited, d)
	if err != nil {
		p.close()
		return nil, err
	}
	return g, nil
}

// leafCertificates returns the certificates in use.
func (p *parts) leafCertificates() []*x509.Certificate {
	if p.certificates == nil {
		return nil
	}
	return p.certificates.Leaves()
}

func (p *parts) generation(
	c config.Config, inherited map[string][]net.Listener, d dependencies,
) (*daemon.Generation, error) {
	var err error
	if p.resolution, err = newResolution(c, d.resolverDependencies); err != nil {
		return nil, err
	}
	p.starters = append(p.starters, func() { d.inForce.Set(d.log.Handler()) })
	probeDNS(p.resolution, c.DDDS.Roots, d.health)
	if p.webhooks, err = wireWebhooks(p.resolution, c.CDN, d); err != nil {
		return nil, err
	}
	p.readiness = append(p.readiness, degrading(p.access.Failures))
	p.keepAccessLogs()
	if p.service, err = newService(c, p.resolution, d); err != nil {
		return nil, err
	}
	administration, err := newAdmin(c, p.resolution, p.service, p.leafCertificates, d)
	if err != nil {
		return nil, err
	}
	endpoints, err := endpointsOf(c, inherited, p.service, administration, func() (*certificate.Set, error) {
		if p.certificates == nil {
			var err error
			if p.certificates, err = wireCertificates(c, p.service.authority, p.resolution, d); err != nil {
				return nil, err
			}
		}
		return p.certificates.Set, nil
	}, d)
	if err != nil {
		return nil, err
	}
	path, basis := snapshotPath(c.Cache), c.Basis(config.Snapshot)
	if p.level != nil { // a snapshot would restore answers that others have purged while this instance was stopped
		path = ""
	}
	whole := *p
	return &daemon.Generation{
		Endpoints: endpoints, Log: d.log, WriteTimeout: c.Limits.WriteTimeout, DrainTime: c.Limits.DrainTime,
		NoticeTime: c.Limits.NoticeTime,
		Connections: listen.ConnectionLimits{
			Connections: c.Limits.Connections, ClientConnections: c.Limits.ClientConnections,
			NetworkConnections: c.Limits.ClientConnections * c.Limits.NetworkFactor,
			Exempt:             slices.Concat(c.Access.TrustedProxies, c.Listen.ProxyProtocol),
		},
		MemoryLimit: int64(memoryLimit(c.Limits)), Watch: c.Reload.Watch, Parts: whole,
		Start: whole.start,
		Ready: func(ctx context.Context) {
			whole.awaitDNS(ctx, c, d)
			whole.awaitRegistry(ctx, d)
		},
		ReadyLog: func(address func(string) string) []any {
			return []any{
				"service", address(nameHTTP), "tls", address(nameHTTPS), "admin", address(nameAdmin), "version",
				versionText(), "url", daemon.URLs(address(nameHTTP), address(nameHTTPS)), "memory_limit",
				memoryLimit(c.Limits), "http2_requests", withSockets(c, inherited).HTTP2Requests(availableMemory()),
			}
		},
		Restore: func(ctx context.Context) {
			d.snapshot.Restore(ctx, path, d.log, func(ctx context.Context, r io.ReadSeeker) (int, error) {
				return whole.answers.Restore(ctx, r, basis, d.now(), whole.isRegistered)
			}, func(err error) bool {
				return errors.Is(err, resolver.ErrSnapshotDamaged) || errors.Is(err, resolver.ErrSnapshotMismatch)
			})
		},
		Save: func() {
			d.snapshot.Save(path, d.log, func(w io.Writer) (int, error) {
				return whole.answers.Save(w, basis, d.now(), int64(c.Cache.MaxSaved))
			})
		},
		Reopen: whole.reopen, Close: whole.close,
	}, nil
}

// awaitDNS waits until a DNS server has answered, for at most dns.timeout: urnd must not be reported as ready
// before it can resolve names.
func (p parts) awaitDNS(ctx context.Context, c config.Config, d dependencies) {
	if p.ready == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.DNS.Timeout)
	defer cancel()
	if err := p.ready(ctx); err != nil && !errors.Is(err, context.Canceled) {
		d.log.Warn("no DNS server responds", "error", err)
	}
}

// start starts the goroutines.
func (p parts) start() {
	for _, start := range p.starters {
		start()
	}
}

// awaitRegistry waits until the registry was opened or has failed, for at most the time that requests for its
// names wait.
func (p parts) awaitRegistry(ctx context.Context, d dependencies) {
	if p.registry == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, follow.OpeningTimeout)
	defer cancel()
	for _, failure := range p.registry.AwaitFirstTry(ctx) {
		d.log.Warn("registry unavailable: its names get 503", "error", failure)
	}
}

// isRegistered reports whether a name is in the registry, or may be if that is unknown.
func (p parts) isRegistered(ctx context.Context, name string) bool {
	if p.registry == nil {
		return false
	}
	if p.registry.Await(ctx); ctx.Err() != nil {
		return true
	}
	q, err := resolver.ParseQuery(name, resolver.I2L)
	if err != nil {
		return true
	}
	_, err = p.own.Resolve(ctx, q)
	return !errors.Is(err, resolver.ErrUnsupported)
}

// snapshotPath returns the path of the snapshot of answers, "" if it is disabled.
func snapshotPath(c config.Cache) string {
	if c.MaxSaved == 0 {
		return ""
	}
	return daemon.SnapshotPath(c.Directory)
}

// reopen reopens the files of access logs.
func (p parts) reopen() error {
	if err := p.access.Reopen(); err != nil {
		return fmt.Errorf("log.access: %w", err)
	}
	return nil
}

// openLog opens the log of a configuration.
func openLog(c config.Log, d dependencies) (*slog.Logger, error) {
	handler, err := logs.NewHandler(logs.Config{
		Format: c.Format, Level: c.Level, Explain: logs.ExplainOpenFiles("limits.connections and limits.outgoing"),
		Recent: d.recent,
	}, d.stderr)
	if err != nil {
		return nil, fmt.Errorf("log.format: %w", err)
	}
	return slog.New(handler), nil
}
