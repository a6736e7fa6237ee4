// Package valkey is a second level of caches that several urnds share, in a server that speaks the protocol of Valkey and Redis. It
// holds outcomes of loads, sealed by a secret of the instances, leases by which one instance loads for all, and a numbered log of
// purges. Nothing waits for it much longer than Config.Timeout, and nothing depends on it: without it, each instance loads itself.
package valkey

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/cache"
)

// MinSecret is the least length of Config.Secret, in octets.
const MinSecret = 32

// Config is where the level is. All fields but Password, CA, Position, Report and Poisoned must be set.
type Config struct {
	// URL is that of one server, of some nodes of a cluster or of sentinels, as Check allows.
	URL string
	// Password returns the password, which is asked for with each connection; nil is none.
	Password func() (string, error)
	// CA has certificates in PEM that verify a server by TLS; nil means those of the system.
	CA []byte
	// Secret seals entries. Instances share what is sealed by the same secret.
	Secret []byte
	// Prefix is what keys of the server begin with.
	Prefix string
	// Dial opens all connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Timeout bounds each question of a load, by up to four times as much where the server mostly takes longer.
	Timeout time.Duration
	// Position is up to which place in the log the purges were carried out on what this instance has on disk: those behind it are told to
	// Watch. With the zero value all may have been missed.
	Position Position
	// Now is the clock, of which durations alone are used.
	Now func() time.Time
	// Report is called with why the level is not used, once for each reason, and with nil when it is again.
	Report func(err error)
	// Poisoned is called with what the server holds that no instance can have written.
	Poisoned func(what string)
}

const (
	maxTTL            = cache.MaxObjectTTL // of entries
	maxEntry          = 80 << 10           // the largest entry, in octets: a response of 64 KiB with its head
	leaseFor          = time.Second        // after which an instance that does not renew it has ended
	renewLease        = leaseFor / 4       // how often, while a load runs
	waitFor           = 3 * time.Second    // at most, for the lease of another instance
	backgroundTimeout = time.Second        // of work in the background
)

// Level is the second level of the caches of one process. It is safe for concurrent use. The caller must close it.
type Level struct {
	config  Config
	id      string // tells it from other instances
	logName string // the key of the log at the server
	sealer  sealer
	scripts scripts
	server  atomic.Pointer[server] // nil until the first connection
	// configured are the addresses of the configuration, and isBeside whether one of them is loopback or link-local.
	configured []string
	isBeside   atomic.Bool
	isOpen     atomic.Bool // the breaker is closed: the server answers, and the log was read
	pace       pace
	members    members
	said       said // what Report was told

	log atomic.Pointer[logState] // written by run alone
	// position is Config.Position until the log was read, for run alone.
	position Position
	unsent   unsent
	sent     atomic.Pointer[head] // the last purge that the instance has added to the log; nil for none
	watches  watches
	writes   chan write
	queued   atomic.Int64 // octets of objects in writes
	counts   counts

	wake    chan struct{} // ends the pauses of run
	start   sync.Once
	end     context.CancelFunc
	ctx     context.Context //nolint:containedctx // of what runs in the background, until Close
	running sync.WaitGroup
}

// New returns a level that is not used until Start. The error says what of the configuration is wrong.
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
		config: config, id: newToken(), logName: sealer.key("log", logFormat), position: config.Position, sealer: sealer, scripts: newScripts(),
		configured: settings.InitAddress,
		writes:     make(chan write, maxWrites), wake: make(chan struct{}, 1),
	}
	l.log.Store(new(logState))
	l.ctx, l.end = context.WithCancel(context.Background())
	return l, nil
}

// Start connects in the background, and begins to use the server when it answers. Further calls do nothing.
func (l *Level) Start() {
	l.start.Do(func() {
		l.running.Go(func() { l.run(l.ctx) })
		l.running.Go(func() { l.write(l.ctx) })
	})
}

// Close ends what runs in the background, and waits for it. Loads go on without the level.
func (l *Level) Close() {
	l.end()
	l.running.Wait()
	l.isOpen.Store(false) // also where a probe was answered meanwhile
	if server := l.server.Load(); server != nil {
		server.Close()
	}
}

// Faults returns what is wrong with the level, nothing while it is used.
func (l *Level) Faults() []string {
	if l.said.isDown() {
		return []string{"the shared level of caches does not answer: each urnd loads for itself"}
	}
	return nil
}

// failed opens the breaker: the server is not asked again until run has found that it answers.
func (l *Level) failed(err error) {
	if l.ctx.Err() != nil {
		return
	}
	l.counts.failures.Add(1)
	l.isOpen.Store(false)
	if why := Explain(err); l.said.down(why) && l.config.Report != nil {
		l.config.Report(why)
	}
	l.rouse()
}

// works closes the breaker.
func (l *Level) works() {
	if l.ctx.Err() != nil {
		return
	}
	l.pace.begin()
	l.isOpen.Store(true)
	if l.said.up() && l.config.Report != nil {
		l.config.Report(nil)
	}
}

// rouse lets run look at once.
func (l *Level) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pause waits a time, or until rouse, or the end.
func (l *Level) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.wake:
	case <-ctx.Done():
	}
}
