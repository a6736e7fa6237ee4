package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// daemon is a running urnd.
type daemon struct {
	surroundings surroundings // but for the log
	stderr       *os.File
	file         *watched                      // of the configuration
	read         func() (config.Config, error) // it, anew
	memory       int64                         // the limit of Go where the configuration has none
	inherited    map[string][]net.Listener     // sockets that systemd has opened

	current   current
	gate      *proxy.Gate
	endpoints []*endpoint
	failed    chan error      // of a server that ended by itself
	behind    sync.WaitGroup  // generations and endpoints that end
	life      context.Context //nolint:containedctx // it is the daemon's own
	end       context.CancelFunc
}

// newDaemon makes what listens, and does not answer yet.
func newDaemon(s surroundings, stderr *os.File, read func() (config.Config, error), inherited map[string][]net.Listener) *daemon {
	life, end := context.WithCancel(context.Background())
	return &daemon{life: life, end: end, surroundings: s, stderr: stderr, read: read, inherited: inherited, failed: make(chan error, 1), file: new(watched), memory: debug.SetMemoryLimit(-1)}
}

// generate makes a configuration into a generation that is not in force.
func (d *daemon) generate(c config.Config) (*generation, error) {
	out, err := openOutput(c.Log, d.stderr, d.surroundings.metrics.LostLine)
	if err != nil {
		return nil, err
	}
	s := d.surroundings
	s.log, s.access = out.log, out.access
	if g := d.current.generation; g != nil {
		s.before = g.parts
	}
	p, err := wire(c, s)
	if err != nil {
		out.close()
		return nil, err
	}
	return &generation{config: c, parts: p, log: out}, nil
}

// start puts the first configuration in force, and begins to answer.
func (d *daemon) start(ctx context.Context, c config.Config) error {
	d.surroundings.restoring = newRestoring()
	g, err := d.generate(c) //nolint:contextcheck // what it makes outlives the caller
	if err != nil {
		return err
	}
	d.gate = proxy.NewGate(gateConfig(c))
	change, err := d.prepare(ctx, g)
	if err != nil {
		g.retire()
		return err
	}
	d.current.replace(g)
	d.surroundings.metrics.Loaded(d.surroundings.now())
	d.behind.Go(func() { g.restore(d.surroundings) }) // while it answers already
	d.apply(ctx, change)
	return nil
}

func gateConfig(c config.Config) proxy.GateConfig {
	return proxy.GateConfig{
		Connections: c.Limits.Connections, ClientConnections: c.Limits.ClientConnections,
		Exempt: slices.Concat(c.Access.TrustedProxies, c.Listen.ProxyProtocol),
	}
}

// change is what becomes of the endpoints: each stays, with or without a new server, or
// is a new one. Those that are not in it end.
type change struct {
	endpoints []*endpoint
	plans     []plan
	servers   []*proxy.Server // nil where the one there is stays
}

// prepare opens what a generation listens on, and is not open. Where that fails nothing
// changes.
func (d *daemon) prepare(ctx context.Context, g *generation) (change, error) {
	made := change{plans: plans(g.config, d.inherited,
		d.current.handler(func(p *parts) http.Handler { return p.service }),
		d.current.handler(func(p *parts) http.Handler { return p.admin }))}
	for _, p := range made.plans {
		if p.name == nameHTTPS && p.settings.tls.Certificate == "" {
			made.abandon()
			return change{}, errNoCertificate
		}
		spoken, err := tlsConfig(p.settings.tls, d.surroundings.now)
		if err != nil { // also where the server stays
			made.abandon()
			return change{}, err
		}
		e := d.endpointAt(p)
		if e != nil && e.plan.settings == p.settings {
			made.endpoints, made.servers = append(made.endpoints, e), append(made.servers, nil)
			continue
		}
		server := d.newServer(g, p, spoken)
		if e == nil {
			e = &endpoint{waiting: d.inherited[p.name]}
			if len(e.waiting) == 0 {
				e.waiting, err = open(ctx, p)
			}
		}
		if err != nil {
			made.abandon()
			return change{}, err
		}
		made.endpoints, made.servers = append(made.endpoints, e), append(made.servers, server)
	}
	return made, nil
}

var errNoCertificate = errors.New("tls.certificate and tls.key are needed for the socket that systemd passes on as https")

// abandon closes what was opened in vain.
func (c change) abandon() {
	for _, e := range c.endpoints {
		for _, listener := range e.waiting {
			_ = listener.Close()
		}
	}
}

// endpointAt returns the endpoint of the same name and address, nil where there is
// none.
func (d *daemon) endpointAt(p plan) *endpoint {
	for _, e := range d.endpoints {
		if e.plan.name == p.name && e.plan.address == p.address {
			return e
		}
	}
	return nil
}

// apply brings the endpoints in line with a change.
func (d *daemon) apply(ctx context.Context, c change) {
	for i, e := range c.endpoints {
		if c.servers[i] == nil {
			continue
		}
		e.plan = c.plans[i]
		e.accept(proxy.SocketConfig{
			Gate: d.gate, Refused: d.surroundings.metrics.RefusedConnection, WriteUntil: d.writeUntil,
			Failed: func(err error) {
				d.log().Warn("connections cannot be accepted", "endpoint", e.plan.name, "error", err)
			},
		})
		d.behind.Go(e.serve(ctx, c.servers[i], d.serverEnded))
	}
	for _, e := range d.endpoints {
		if !slices.Contains(c.endpoints, e) {
			e.drain() // so that its address can be listened on again
			d.behind.Go(e.close)
		}
	}
	d.endpoints = c.endpoints
}

// serverEnded hears of servers that end with an error: clients that did not let go in
// time are cut off, all else is the end of the daemon.
func (d *daemon) serverEnded(err error, asked bool) {
	if asked {
		d.log().Warn("requests were cut off", "error", err)
		return
	}
	select {
	case d.failed <- err:
	default: // another one says so already
	}
}

// writeUntil returns until when a client must have taken a piece of what is sent.
func (d *daemon) writeUntil() time.Time {
	g := d.current.take()
	defer g.running.Done()
	return time.Now().Add(g.config.Limits.WriteTimeout)
}

// log returns that of the generation in force.
func (d *daemon) log() *slog.Logger {
	g := d.current.take()
	defer g.running.Done()
	return g.log.log
}

func (d *daemon) newServer(g *generation, p plan, spoken *tls.Config) *proxy.Server {
	c := g.config
	s := proxy.ServerConfig{
		Handler: p.handler, Log: g.log.log, MaxTarget: int(c.Limits.Target), MaxHeader: int(c.Limits.Header),
		HeaderTimeout: c.Limits.HeaderTimeout, IdleTimeout: c.Limits.IdleTimeout, ShutdownTimeout: c.Limits.ShutdownTimeout, TLS: spoken, Life: d.life, WriteUntil: d.writeUntil,
	}
	if p.name != nameAdmin {
		s.ProxyProtocol = c.Listen.ProxyProtocol
		s.Unused = d.surroundings.metrics.UnusedConnection
		s.Refused = func(status int) { d.surroundings.metrics.Request("none", resolver.I2L.String(), status, 0) }
	}
	return proxy.NewServer(s)
}

// address returns where an endpoint listens, "off" where it does not.
func (d *daemon) address(name string) string {
	for _, e := range d.endpoints {
		if e.plan.name == name {
			return e.addresses()
		}
	}
	return "off"
}

// close ends all, and returns when nothing is left.
func (d *daemon) close() {
	d.end()
	var ending sync.WaitGroup
	for _, administrators := range []bool{false, true} { // who see to the end how it goes
		for _, e := range d.endpoints {
			if (e.plan.name == nameAdmin) == administrators {
				ending.Go(e.close)
			}
		}
		ending.Wait()
	}
	d.behind.Wait()
	d.current.generation.save(d.surroundings)
	d.current.generation.retire()
}
