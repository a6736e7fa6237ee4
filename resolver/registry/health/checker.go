package health

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Config configures a Checker. All fields but Failed and Observe must be set.
type Config struct {
	Store registry.Store
	// Transport sends requests. It must restrict destinations, with errors that wrap resolver.ErrForbidden, and
	// not follow redirects.
	Transport http.RoundTripper
	// Agent is the User-Agent of requests: it says who asks, and how to reach them.
	Agent string
	// Interval is how long a sweep over all names takes.
	Interval time.Duration
	// Rate bounds the requests a second, Concurrency those at the same time. Pause is the time between two
	// requests to one server, which is asked one at a time. Timeout is that of a request.
	Rate, Concurrency int
	Pause, Timeout    time.Duration
	// Holder identifies this instance, see registry.Lease.
	Holder string
	Now    func() time.Time
	// After returns a channel that receives once, after a time.
	After func(time.Duration) <-chan time.Time
	// Failed is called with what keeps the sweep from going on; it is tried again. nil is not called.
	Failed func(err error)
	// Observe is called with the outcome of each check; nil is not called.
	Observe func(Outcome)
}

// Checker checks where names lead. It is safe for concurrent use.
type Checker struct {
	config Config
	hosts  *hosts
	round  *round
	lease  registry.Lease
}

// The times of a checker.
const (
	leaseTime = 6 * time.Minute
	// again is how long it waits after a failure, and for servers that want to be left alone.
	again = time.Minute
	// idle is how long it waits at most until it looks for something to do.
	idle = 10 * time.Minute
	// recheck is from when on targets that are not healthy are checked again, where the interval is not shorter.
	recheck = 12 * time.Hour
)

// LeaseName is the name of the lease of the instance that checks targets.
const LeaseName = "health"

// New returns a Checker, which has not started anything.
func New(config Config) *Checker {
	h := newHosts(config.Pause, config.Rate, config.Now, config.After)
	return &Checker{
		config: config, hosts: h,
		round: &round{
			prober:  &prober{transport: config.Transport, agent: config.Agent, timeout: config.Timeout, hosts: h, now: config.Now},
			workers: max(config.Concurrency, 1), observed: config.Observe, network: &network{now: config.Now},
		},
		lease: registry.Lease{Store: config.Store, Name: LeaseName, Holder: config.Holder, For: leaseTime, Now: config.Now},
	}
}

// Run checks targets until ctx ends, while no other instance does.
func (c *Checker) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.lease.Acquire(ctx)
		if err == nil {
			err = c.lead(ctx)
		}
		if ctx.Err() == nil && err != nil && !errors.Is(err, registry.ErrLease) {
			c.failed(err)
		}
		c.hosts.sleep(ctx, leaseTime/3)
	}
}

func (c *Checker) failed(err error) {
	if c.config.Failed != nil {
		c.config.Failed(err)
	}
}

// lead checks targets while the lease is held, which it renews and at last gives up.
func (c *Checker) lead(ctx context.Context) error {
	leading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var renewing sync.WaitGroup
	renewing.Go(func() { cancel(c.renew(leading)) })
	w := walk{Checker: c}
	for leading.Err() == nil {
		wait, err := w.step(leading)
		if err != nil && leading.Err() == nil {
			if errors.Is(err, registry.ErrLease) {
				cancel(err)
				break
			}
			c.failed(err)
			wait = again
		}
		c.hosts.sleep(leading, wait)
	}
	cause := context.Cause(leading)
	renewing.Wait()
	if ctx.Err() == nil {
		return cause
	}
	release, cancelRelease := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancelRelease()
	return c.lease.Release(release)
}

// releaseTime bounds how long the lease is given up: it runs out anyhow.
const releaseTime = 2 * time.Second

// renew renews the lease until it is lost, or ctx ends.
func (c *Checker) renew(ctx context.Context) error {
	until := c.config.Now().Add(leaseTime)
	for c.hosts.sleep(ctx, leaseTime/3) {
		begun := c.config.Now()
		err := c.lease.Acquire(ctx)
		switch {
		case err == nil:
			until = begun.Add(leaseTime)
		case errors.Is(err, registry.ErrLease), !until.After(c.config.Now().Add(leaseTime / 3)):
			return err
		}
	}
	return nil
}
