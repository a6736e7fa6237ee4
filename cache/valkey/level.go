// Package valkey is a second cache level that several urnd instances share, in a server with the protocol of
// Valkey and Redis (RESP3). Outcomes of loads and purges enter; usable outcomes of other instances and the
// purges of all instances leave. The server stores the outcomes, sealed by a shared secret, leases by which one
// instance loads for all, and a numbered log of purges. No caller waits for it much longer than Config.Timeout,
// and none depends on it: without it, each instance loads by itself. It implements no RFC, except that timeouts
// follow RFC 6298.
package valkey

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
)

// MinSecret is the minimum length of Config.Secret in bytes.
const MinSecret = 32

// Config configures a level. All fields except Password, CA, Position, Report and Poisoned are required.
type Config struct {
	// URL names one server, some nodes of a cluster, or sentinels, in the syntax of CheckURL.
	URL string
	// Password returns the password, and is called for each connection; nil means none.
	Password func() (string, error)
	// CA are certificates in PEM that verify a server by TLS; nil means those of the system.
	CA []byte
	// Secret seals entries. Instances with the same secret share entries.
	Secret []byte
	// Prefix begins the keys at the server.
	Prefix string
	// Dial opens all connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout limits each query of a load. If the server usually takes longer, the limit grows, to at most four times
	// Timeout.
	Timeout time.Duration
	// Position is the position in the log up to which purges were applied to the disk of this instance: later
	// purges are passed to Watch. The zero value means that all purges may have been missed.
	Position Position
	// Now is the clock, used only for durations.
	Now func() time.Time
	// Report is called with the reason when the level becomes unusable, once per reason, and with nil when it
	// is usable again.
	Report func(err error)
	// Poisoned is called with a description of data at the server that no instance can have written.
	Poisoned func(what string)
}

const (
	maxTTL            = cache.MaxObjectTTL // of entries
	maxEntry          = 80 << 10           // the largest entry in bytes: a response of 64 KiB with its head
	leaseFor          = time.Second        // an instance that does not renew its lease for so long has ended
	renewLease        = leaseFor / 4       // interval of renewals during a load
	waitFor           = 3 * time.Second    // maximum wait for the lease of another instance
	backgroundTimeout = time.Second        // of background work
)

// Level is the second cache level of one process. It is safe for concurrent use. The caller must call Close.
type Level struct {
	config  Config
	id      string // identifies the instance
	logName string // the key of the log at the server
	sealer  sealer
	scripts scripts
	server  atomic.Pointer[server] // nil until the first connection
	// configured are the configured addresses; beside is whether one of them is loopback or link-local.
	configured     []string
	beside         atomic.Bool
	open           atomic.Bool // the circuit breaker is closed: the server responds, and the log was read
	timeout        timeoutEstimator
	members        members
	statusReporter statusReporter // the state reported to Report

	log atomic.Pointer[logState] // written only by run
	// position is Config.Position until the log was read; used only by run.
	position Position
	unsent   unsent
	sent     atomic.Pointer[head] // the last purge that the instance added to the log; nil for none
	watches  watches
	writes   chan write
	queued   atomic.Int64 // bytes of objects in writes
	counts   counts

	wake    chan struct{} // interrupts the pauses of run
	start   sync.Once
	end     context.CancelFunc
	ctx     context.Context //nolint:containedctx // of the background work, until Close
	running sync.WaitGroup
}

// New returns a level that is unused until Start. The error describes what is wrong in the configuration.
func New(config Config) (*Level, error) {
	settings, err := options(config, nil)
	if err != nil {
		return nil, err
	}
	sealer, err := newSealer(config.Secret, config.Prefix)
	if err != nil {
		return nil, err
	}
	l := &Level{
		config: config, id: newToken(), logName: sealer.key("log", logFormat), position: config.Position,
		sealer: sealer, scripts: newScripts(),
		configured: settings.InitAddress,
		writes:     make(chan write, maxWrites), wake: make(chan struct{}, 1),
	}
	l.log.Store(new(logState))
	l.ctx, l.end = context.WithCancel(context.Background())
	return l, nil
}

// Start connects in the background, and uses the server as soon as it responds. Further calls do nothing.
func (l *Level) Start() {
	l.start.Do(func() {
		l.running.Go(func() { l.run(l.ctx) })
		l.running.Go(func() { l.write(l.ctx) })
	})
}

// Close cancels the background work and waits for it. Loads continue without the level.
func (l *Level) Close() {
	l.end()
	l.running.Wait()
	l.open.Store(false) // a concurrent probe may have set it
	if server := l.server.Load(); server != nil {
		server.Close()
	}
}

// Failures returns what is wrong with the level, nothing while it is usable.
func (l *Level) Failures() []string {
	if l.statusReporter.isDown() {
		return []string{"shared cache unavailable: each urnd loads for itself"}
	}
	return nil
}

// failed opens the circuit breaker: the server is not queried until run finds that it responds.
func (l *Level) failed(err error) {
	if l.ctx.Err() != nil {
		return
	}
	l.counts.failures.Add(1)
	l.open.Store(false)
	if why := Explain(err); l.statusReporter.setDown(why) && l.config.Report != nil {
		l.config.Report(why)
	}
	l.wakeUp()
}

// works closes the circuit breaker.
func (l *Level) works() {
	if l.ctx.Err() != nil {
		return
	}
	l.timeout.begin()
	l.open.Store(true)
	if l.statusReporter.setUp() && l.config.Report != nil {
		l.config.Report(nil)
	}
}

// wakeUp interrupts the pause of run.
func (l *Level) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pause waits for a duration, or until rouse or the end of ctx.
func (l *Level) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.wake:
	case <-ctx.Done():
	}
}
