// Package daemon runs a service from start to shutdown: it opens the listeners, puts generations of the
// configuration in force, serves requests with the current one, and reloads on SIGHUP or when the configuration
// file changes. A Config with functions that load a Generation enters; the daemon passes requests to the
// handlers of the current generation, and reports its state to systemd (sd_notify(3), socket activation of
// sd_listen_fds(3)) and for /readyz by Health. It is independent of the format of the configuration and
// implements no protocol itself.
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

// Config configures a Daemon. All fields are required except File and Inherited.
type Config struct {
	// Load reads the configuration and returns a new generation, which is not yet in force. before is the
	// current generation, nil at startup.
	Load func(before *Generation) (*Generation, error)
	// File is the path of the configuration file, which is watched if the current generation has Watch set; ""
	// for none.
	File string
	// Inherited contains the sockets opened by systemd, by endpoint name.
	Inherited map[string][]net.Listener
	Now       func() time.Time
	// Deadline returns the time after a duration according to the system clock, for connection deadlines.
	Deadline func(time.Duration) time.Time
	Health   *Health
	// Loaded is called with the result of each load of the configuration; reload is false for the first load,
	// which is only reported if it succeeds.
	Loaded func(reload bool, err error)
	// Refused is called when a client has too many connections. TooManyResponse returns the complete response for such
	// a connection.
	Refused         func()
	TooManyResponse func() []byte
	// Listening is called with the addresses of all endpoints when they change, before new endpoints accept
	// connections. It may be nil.
	Listening func(addrs []net.Addr)
	// Status returns the status text of the service for systemd.
	Status func() string
	// AdjustGOGC makes the daemon adjust GOGC. It is unset if the administrator has set GOGC.
	AdjustGOGC bool
}

// Daemon is a running service.
type Daemon struct {
	config Config
	file   *configFile
	memory int64 // initial memory limit, for generations without one

	current     current
	connections *listen.ConnectionLimit
	endpoints   []*endpoint
	failed      chan error      // receives the error of a failed server
	background  sync.WaitGroup  // closing generations and endpoints
	ctx         context.Context //nolint:containedctx // canceled when the daemon ends
	cancel      context.CancelFunc
}

// New returns a Daemon; Run starts it.
func New(config Config) *Daemon {
	ctx, cancel := context.WithCancel(context.Background())
	return &Daemon{
		config: config, file: &configFile{path: config.File}, memory: debug.SetMemoryLimit(-1),
		connections: listen.NewConnectionLimit(listen.ConnectionLimits{}, config.Now), failed: make(chan error, 1),
		ctx: ctx, cancel: cancel,
	}
}

// Run serves until ctx ends or a server fails, and reloads at each signal from hangups. It returns when all
// requests have ended. It must be called only once.
func (d *Daemon) Run(ctx context.Context, hangups <-chan os.Signal) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	defer func() { //nolint:contextcheck // ctx has ended
		d.config.Health.Stop()
		d.logNotifyError(systemd.Stopping())
		log := d.log() // remains usable after close
		d.close()
		log.Info("urnd has stopped")
	}()
	d.Use(func(g *Generation) { g.Ready(ctx) })
	if ctx.Err() != nil { // stopped before it was ready
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

// start puts the first generation in force and starts to serve.
func (d *Daemon) start(ctx context.Context) error {
	d.file.recordRead()
	g, err := d.config.Load(nil)
	if err != nil {
		return err
	}
	d.limitMemory(g.MemoryLimit)
	d.connections.SetLimits(g.Connections)
	change, err := d.prepare(ctx, g)
	if err != nil {
		g.retire()
		return err
	}
	d.current.replace(g) // first, because background tasks of g may use the current generation
	g.start()
	d.config.Loaded(false, nil)
	if g.Restore != nil {
		d.background.Go(func() { g.Restore(d.ctx) }) // requests do not wait for it
	}
	d.apply(ctx, change)
	return nil
}

// statusInterval is the interval of status notifications to systemd.
const statusInterval = 10 * time.Second

// loop reloads at signals and file changes, sends the status to systemd, and notifies its watchdog while probes
// succeed, until ctx ends or a server fails.
func (d *Daemon) loop(ctx context.Context, hangups <-chan os.Signal, changes <-chan struct{}) error {
	interval := statusInterval
	watchdog := systemd.Watchdog()
	if watchdog > 0 {
		interval = min(interval, watchdog/3)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	heap := newGCPercent()
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
			if d.config.AdjustGOGC {
				heap.bound()
			}
			d.logNotifyError(systemd.Status(d.status()))
			if watchdog > 0 {
				d.feedWatchdog(ctx, interval)
			}
		}
	}
}

// feedWatchdog notifies the systemd watchdog if a probe succeeds (sd_notify(3), WATCHDOG=1).
func (d *Daemon) feedWatchdog(ctx context.Context, timeout time.Duration) {
	if err := d.probe(ctx, timeout); err != nil {
		d.log().Error("endpoint probe failed, watchdog not notified", "error", err)
		return
	}
	d.logNotifyError(systemd.Alive())
}

// probe sends a request to each endpoint without TLS, by the same path as an accepted connection.
func (d *Daemon) probe(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, e := range d.endpoints {
		if e.spec.Server.TLS != nil {
			continue // after the handshake the path is the same
		}
		for _, socket := range e.sockets {
			if err := socket.Probe(ctx); err != nil {
				return fmt.Errorf("probing endpoint %s: %w", e.spec.Name, err)
			}
		}
	}
	return nil
}

// Use calls f with the current generation, which is not closed before f returns. It must not be called before
// the first generation is in force.
func (d *Daemon) Use(f func(*Generation)) {
	g := d.current.acquire()
	defer g.done()
	f(g)
}

// Connections returns the number of open client connections.
func (d *Daemon) Connections() int { return d.connections.Connections() }

// Address returns the addresses of an endpoint, or "off" if it is disabled.
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

// log returns the logger of the current generation.
func (d *Daemon) log() (log *slog.Logger) {
	d.Use(func(g *Generation) { log = g.Log })
	return log
}

// watches reports whether the configuration file is watched.
func (d *Daemon) watches() (wanted bool) {
	d.Use(func(g *Generation) { wanted = g.Watch })
	return wanted
}

// limitMemory sets the soft memory limit of the Go runtime in bytes; 0 restores the initial one (GOMEMLIMIT).
func (d *Daemon) limitMemory(limit int64) {
	if limit == 0 {
		limit = d.memory
	}
	debug.SetMemoryLimit(limit)
}

// announce asks clients to close their connections, and returns when the listeners may be closed. It waits for
// NoticeTime even if no connection is open, because a load balancer that has not noticed the shutdown still
// opens new ones.
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
