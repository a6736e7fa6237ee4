// Package daemon runs a service from its start to its end: endpoints, reloads, and the
// notification of systemd. It is independent of the format of the configuration.
package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/systemd"
)

// Config configures a Daemon. All fields but File and Inherited must be set.
type Config struct {
	// Load reads the configuration and returns its generation, which is not in force yet.
	// before is the one in force, nil at the start.
	Load func(before *Generation) (*Generation, error)
	// File is the path of the configuration, which is watched where the generation in force
	// has Watch set; "" for none.
	File string
	// Inherited are the sockets that systemd has opened, by the name of the endpoint.
	Inherited map[string][]net.Listener
	Now       func() time.Time
	// Deadline returns the time after a duration by the system clock, for deadlines of
	// connections.
	Deadline func(time.Duration) time.Time
	Health   *Health
	// Loaded is called with the outcome of each reading of the configuration; reload is
	// false for the first one, which has no error.
	Loaded func(reload bool, err error)
	// Refused is called where a client has too many connections; TooMany is the whole response.
	Refused func()
	TooMany func() []byte
	// Listening is called with the addresses of all endpoints when they change, before a
	// connection is accepted at a new one; nil is not called.
	Listening func(addrs []net.Addr)
	// Status describes the state of the service for systemd.
	Status func() string
	// BoundGarbage is whether the daemon says when garbage is collected: not where the administrator has set GOGC.
	BoundGarbage bool
}

// Daemon is a running service.
type Daemon struct {
	config Config
	file   *configFile
	memory int64 // the limit where a generation has none

	current     current
	connections *listen.ConnectionLimit
	endpoints   []*endpoint
	failed      chan error      // of a server that has failed
	background  sync.WaitGroup  // generations and endpoints that are ending
	ctx         context.Context //nolint:containedctx // it ends with the daemon
	cancel      context.CancelFunc
}

// New returns a Daemon that is not running.
func New(config Config) *Daemon {
	ctx, cancel := context.WithCancel(context.Background())
	return &Daemon{
		config: config, file: &configFile{path: config.File}, memory: debug.SetMemoryLimit(-1),
		connections: listen.NewConnectionLimit(listen.ConnectionLimits{}, config.Now), failed: make(chan error, 1),
		ctx: ctx, cancel: cancel,
	}
}

// Run serves until ctx ends or a server fails, and reloads at each signal from hangups. It
// returns when all requests have ended. It must be called once.
func (d *Daemon) Run(ctx context.Context, hangups <-chan os.Signal) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	defer func() { //nolint:contextcheck // the context has ended
		d.config.Health.Stop()
		d.logNotifyError(systemd.Stopping())
		log := d.log() // it is usable after close
		d.close()
		log.Info("urnd has stopped")
	}()
	d.Use(func(g *Generation) { g.Ready(ctx) })
	if ctx.Err() != nil { // it was stopped before it was ready
		return nil
	}
	d.Use(func(g *Generation) { g.Log.Info("urnd is ready", g.ReadyLog(d.Address)...) })
	d.logNotifyError(systemd.Ready(d.status()))
	changes := make(chan struct{})
	var watching sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	watching.Go(func() { d.file.watch(ctx, d.watches, changes) })
	err := d.loop(ctx, hangups, changes)
	cancel()
	watching.Wait()
	return err
}

// start puts the first generation in force, and begins to serve.
func (d *Daemon) start(ctx context.Context) error {
	d.file.recordRead()
	g, err := d.config.Load(nil)
	if err != nil {
		return err
	}
	d.limitMemory(g.MemoryLimit)
	d.connections.Change(g.Connections)
	change, err := d.prepare(ctx, g)
	if err != nil {
		g.retire()
		return err
	}
	d.current.replace(g) // first: what it starts may report to the generation in force
	g.start()
	d.config.Loaded(false, nil)
	if g.Restore != nil {
		d.background.Go(func() { g.Restore(d.ctx) }) // requests do not wait for it
	}
	d.apply(ctx, change)
	return nil
}

// statusInterval is the time between status notifications of systemd.
const statusInterval = 10 * time.Second

// loop reloads at signals and changes of the file, sends systemd the status, and notifies
// its watchdog while requests are answered, until ctx ends or a server fails.
func (d *Daemon) loop(ctx context.Context, hangups <-chan os.Signal, changes <-chan struct{}) error {
	interval := statusInterval
	watchdog := systemd.Watchdog()
	if watchdog > 0 {
		interval = min(interval, watchdog/3)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	heap := newGarbage()
	defer heap.end()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-d.failed:
			return err
		case <-hangups:
			d.reload(ctx)
		case <-changes:
			d.reload(ctx)
		case <-ticker.C:
			if d.config.BoundGarbage {
				heap.bound()
			}
			d.logNotifyError(systemd.Status(d.status()))
			if watchdog > 0 {
				d.feedWatchdog(ctx, interval)
			}
		}
	}
}

// feedWatchdog notifies the watchdog of systemd if a probe is answered (sd_notify(3), WATCHDOG=1).
func (d *Daemon) feedWatchdog(ctx context.Context, timeout time.Duration) {
	if err := d.probe(ctx, timeout); err != nil {
		d.log().Error("a probe of the own endpoints failed, and the watchdog was not notified", "error", err)
		return
	}
	d.logNotifyError(systemd.Alive())
}

// probe sends a request to each endpoint without TLS, on the path of an accepted
// connection.
func (d *Daemon) probe(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, e := range d.endpoints {
		if e.spec.Server.TLS != nil {
			continue // the path is the same after the handshake
		}
		for _, socket := range e.sockets {
			if err := socket.Probe(ctx); err != nil {
				return fmt.Errorf("probing endpoint %s: %w", e.spec.Name, err)
			}
		}
	}
	return nil
}

// Use calls f with the generation in force, which is not closed before f returns. It must
// not be called before the first generation is in force.
func (d *Daemon) Use(f func(*Generation)) {
	g := d.current.acquire()
	defer g.done()
	f(g)
}

// Connections returns the number of open connections of clients.
func (d *Daemon) Connections() int { return d.connections.Open() }

// Address returns the addresses of an endpoint, "off" where it is turned off.
func (d *Daemon) Address(name string) string {
	var all []string
	for _, e := range d.endpoints {
		if e.spec.Name == name {
			all = append(all, e.addresses())
		}
	}
	if len(all) == 0 {
		return "off"
	}
	return strings.Join(all, ", ")
}

// log returns the logger of the generation in force.
func (d *Daemon) log() (log *slog.Logger) {
	d.Use(func(g *Generation) { log = g.Log })
	return log
}

// watches reports whether the configuration file is watched.
func (d *Daemon) watches() (wanted bool) {
	d.Use(func(g *Generation) { wanted = g.Watch })
	return wanted
}

// limitMemory sets the soft memory limit of Go; 0 restores the initial one, which
// GOMEMLIMIT sets.
func (d *Daemon) limitMemory(limit int64) {
	if limit == 0 {
		limit = d.memory
	}
	debug.SetMemoryLimit(limit)
}

// announce asks clients to close their connections, and returns when it is time to close them. A load balancer that has not
// noticed yet opens new ones, also where none is left.
func (d *Daemon) announce() {
	g := d.current.generation.Load()
	noticed, stop := context.WithTimeout(context.Background(), g.NoticeTime)
	defer stop()
	announcing, stop := context.WithTimeout(context.Background(), max(g.DrainTime, g.NoticeTime))
	defer stop()
	accepts := false
	var ending sync.WaitGroup
	for _, e := range d.endpoints {
		if !e.spec.Administration {
			accepts = accepts || !e.inherited
			ending.Go(func() { e.announce(announcing) })
		}
	}
	ending.Wait()
	if accepts {
		<-noticed.Done()
	}
}

// close closes endpoints and generations, and returns when all requests have ended.
func (d *Daemon) close() {
	d.announce()
	d.cancel()
	var ending sync.WaitGroup
	for _, administration := range []bool{false, true} { // the admin interface ends last
		for _, e := range d.endpoints {
			if e.spec.Administration == administration {
				ending.Go(e.close)
			}
		}
		ending.Wait()
	}
	d.background.Wait()
	if g := d.current.generation.Load(); g.Save != nil {
		g.Save()
	}
	d.current.generation.Load().retire()
}
