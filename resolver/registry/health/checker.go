package health

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Config configures a Checker. All fields except Failed and Observe must be set.
type Config struct {
	Store registry.Store
	// Transport sends requests. It must restrict destinations, with errors that wrap resolver.ErrForbidden,
	// and must not follow redirects.
	Transport http.RoundTripper
	// Agent is the User-Agent of requests. It should identify the operator, with a contact.
	Agent string
	// Interval is the duration of a sweep over all names.
	Interval time.Duration
	// Rate is the maximum of requests per second, Concurrency that of concurrent ones. Pause is the time
	// between two requests to a server; requests to one server are sequential. Timeout is the timeout of a
	// request.
	Rate, Concurrency int
	Pause, Timeout    time.Duration
	// Holder identifies this instance, see registry.Lease.
	Holder string
	Now    func() time.Time
	// After returns a channel that receives once, after a duration.
	After func(time.Duration) <-chan time.Time
	// Failed is called with errors that stop the sweep; it is retried. It may be nil.
	Failed func(err error)
	// Observe is called with the outcome of each check; it may be nil.
	Observe func(Outcome)
}

// Checker checks the targets of names. It is safe for concurrent use.
type Checker struct {
	config Config
	hosts  *hosts
	round  *round
	lease  registry.Lease
}

// The durations of a checker.
const (
	leaseTime = 6 * time.Minute
	// again is the delay after a failure, and for postponed targets.
	again = time.Minute
	// idle is the maximum delay between two steps.
	idle = 10 * time.Minute
	// recheck is the age of a check after which an unhealthy or suspect target is checked again, unless the
	// interval is shorter.
	recheck = 12 * time.Hour
)

// LeaseName is the name of the lease of the active checker.
const LeaseName = "health"

// New returns a Checker. It starts no goroutine.
func New(config Config) *Checker {
	h := newHosts(config.Pause, config.Rate, config.Now, config.After)
	return &Checker{
		config: config, hosts: h,
		round: &round{
			prober: &prober{
				transport: config.Transport, agent: config.Agent, timeout: config.Timeout, hosts: h,
				now: config.Now,
			},
			workers: max(config.Concurrency, 1), observed: config.Observe, network: &network{now: config.Now},
		},
		lease: registry.Lease{
			Store: config.Store, Name: LeaseName, Holder: config.Holder, Duration: leaseTime,
			Now: config.Now,
		},
	}
}

// Run checks targets until ctx ends, while this instance holds the lease.
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

// lead checks targets while the lease is held. It renews the lease, and releases it at the end.
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

// releaseTime bounds the release of the lease, which expires anyway.
const releaseTime = 2 * time.Second

// renew renews the lease until it is lost, or ctx ends.
func (c *Checker) renew(ctx context.Context) error {
	until := c.config.Now().Add(leaseTime)
	for c.hosts.sleep(ctx, leaseTime/3) {
		started := c.config.Now()
		err := c.lease.Acquire(ctx)
		switch {
		case err == nil:
			until = started.Add(leaseTime)
		case errors.Is(err, registry.ErrLease), !until.After(c.config.Now().Add(leaseTime / 3)):
			return err
		}
	}
	return nil
}
