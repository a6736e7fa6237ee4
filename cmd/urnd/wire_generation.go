package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/systemd"
)

// newDaemon returns a daemon that reads its configuration by read, from file where that
// is not "".
func newDaemon(d dependencies, file string, read func() (config.Config, error), inherited map[string][]net.Listener) *daemon.Daemon {
	var made *daemon.Daemon
	made = daemon.New(daemon.Config{
		File: file, Inherited: inherited, Now: d.now, Health: d.health, Refused: d.metrics.RefusedConnection,
		Deadline: func(after time.Duration) time.Time { return time.Now().Add(after) },
		TooMany:  func() listen.Document { return document(problem.ErrConnections) },
		Load: func(before *daemon.Generation) (*daemon.Generation, error) {
			c, err := read()
			if err != nil {
				return nil, err
			}
			if before != nil {
				d.before = wired(before).resolution
			}
			return newGeneration(c, inherited, d)
		},
		Loaded: func(reload bool, err error) {
			if reload {
				d.metrics.Reload(err == nil, d.now())
				return
			}
			d.metrics.Loaded(d.now())
		},
		Status: func() string { return figuresOf(made) },
	})
	d.metrics.Caches(func() (all []metrics.Cache) {
		made.Use(func(g *daemon.Generation) { all = wired(g).figures() })
		return all
	})
	d.metrics.Limits(func() (all []metrics.Limit) {
		made.Use(func(g *daemon.Generation) {
			connections := metrics.Limit{Name: "connections", Used: made.Connections(), Max: g.Connections.Connections}
			all = append([]metrics.Limit{connections}, wired(g).slots.figures()...)
		})
		return all
	})
	return made
}

// parts are what a generation is made of.
type parts struct {
	*resolution
	service *service
	log     *logs
}

func wired(g *daemon.Generation) parts {
	p, _ := g.Parts.(parts)
	return p
}

func (p parts) close() {
	if p.service != nil {
		p.service.close()
	}
	if p.resolution != nil {
		p.resolution.close()
	}
	p.log.close()
}

// newGeneration makes a configuration into a generation that is not in force.
func newGeneration(c config.Config, inherited map[string][]net.Listener, d dependencies) (*daemon.Generation, error) {
	log, err := openLogs(c.Log, d.stderr, d.metrics.LostLine)
	if err != nil {
		return nil, err
	}
	d.log, d.access = log.log, log.access
	p := parts{log: log}
	g, err := p.generation(c, inherited, d)
	if err != nil {
		p.close()
		return nil, err
	}
	return g, nil
}

func (p *parts) generation(c config.Config, inherited map[string][]net.Listener, d dependencies) (*daemon.Generation, error) {
	var err error
	if p.resolution, err = newResolution(c, d); err != nil {
		return nil, err
	}
	if p.service, err = newService(c, p.resolution, d); err != nil {
		return nil, err
	}
	administration, err := newAdmin(c, p.resolution, d)
	if err != nil {
		return nil, err
	}
	endpoints, err := endpointsOf(c, inherited, p.service, administration, d)
	if err != nil {
		return nil, err
	}
	path, basis := snapshotPath(c.Cache), snapshotBasis(c)
	whole := *p
	return &daemon.Generation{
		Endpoints: endpoints, Log: d.log, WriteTimeout: c.Limits.WriteTimeout,
		Connections: listen.ConnectionLimits{
			Connections: c.Limits.Connections, ClientConnections: c.Limits.ClientConnections,
			Exempt: slices.Concat(c.Access.TrustedProxies, c.Listen.ProxyProtocol),
		},
		MemoryLimit: int64(c.Limits.Memory), Watch: c.Reload.Watch, Parts: whole,
		Ready: func(ctx context.Context) { whole.awaitDNS(ctx, c, d) },
		ReadyLog: func(address func(string) string) []any {
			return []any{"service", address(nameHTTP), "tls", address(nameHTTPS), "admin", address(nameAdmin), "version", versionText()}
		},
		Restore: func() {
			d.snapshot.Restore(path, d.log, func(ctx context.Context, r io.ReadSeeker) (int, error) {
				return whole.answers.Restore(ctx, r, basis, d.now())
			}, func(err error) bool {
				return errors.Is(err, resolver.ErrSnapshotDamaged) || errors.Is(err, resolver.ErrSnapshotForeign)
			})
		},
		Save: func() {
			d.snapshot.Save(path, d.log, func(w io.Writer) (int, error) {
				return whole.answers.Save(w, basis, d.now(), int64(c.Cache.MaxSaved))
			})
		},
		Reopen: whole.log.reopen, Close: whole.close,
	}, nil
}

// awaitDNS waits until the first DNS server has answered, or has not in time: a service
// that says that it is ready should be.
func (p parts) awaitDNS(ctx context.Context, c config.Config, d dependencies) {
	if p.ready == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.DNS.Timeout)
	defer cancel()
	if err := p.ready(ctx); err != nil && !errors.Is(err, context.Canceled) {
		d.log.Warn("the first DNS server does not answer", "error", err)
	}
}

// figuresOf describes in words how the service does.
func figuresOf(d *daemon.Daemon) string {
	var hits, all uint64
	var entries int64
	d.Use(func(g *daemon.Generation) {
		for _, c := range wired(g).figures() {
			if c.Name != "answers" {
				continue
			}
			entries = c.Entries
			for outcome, n := range c.Lookups {
				all += n
				if outcome == "hit" || outcome == "negative" {
					hits += n
				}
			}
		}
	})
	return fmt.Sprintf("%d answers cached, %d of %d lookups hit, %d connections", entries, hits, all, d.Connections())
}

// snapshotName is the file of answers in the directory for what outlives the daemon.
const snapshotName = "answers"

// snapshotPath returns where answers are while urnd does not run, "" where they are not
// saved.
func snapshotPath(c config.Cache) string {
	directory := c.Directory
	if directory == "" {
		directory = systemd.StateDirectory()
	}
	if directory == "" || c.MaxSaved == 0 {
		return ""
	}
	return filepath.Join(directory, snapshotName)
}

// snapshotBasis names what saved answers depend on: this version, and all of the
// configuration that decides them.
func snapshotBasis(c config.Config) string {
	c.Cache = config.Cache{} // how much is stored says nothing of what
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %+v", versionText(), basisOf("answers", c))))
}
