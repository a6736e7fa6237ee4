package ddds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// query queries the servers in order until one answers: it queries the next one after a failure, and in parallel
// if one is slow. The error is context.DeadlineExceeded if all were too slow, else resolver.ErrUnreachable.
// Most queries need one server, and no goroutine.
func (c *Client) query(ctx context.Context, name string, rrtype uint16) (*dns.Msg, error) {
	servers, err := c.order(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &race{
		client: c, name: name, rrtype: rrtype, servers: servers, cancel: cancel, outcomes: make(chan outcome, 1),
		done: make(chan struct{}),
	}
	var slow *time.Timer
	if c.config.HedgeAfter > 0 {
		slow = time.AfterFunc(c.config.HedgeAfter, func() { r.run(ctx, true) })
	}
	first := c.queryRecovered(ctx, servers[0], name, rrtype, "")
	alone := slow == nil || slow.Stop()
	if alone && first.err == nil {
		return first.reply, nil
	}
	r.outcomes <- first
	if alone {
		r.run(ctx, false)
	}
	<-r.done
	return r.reply, r.err
}

// race queries further servers once the first one is slow or has failed.
type race struct {
	client   *Client
	name     string
	rrtype   uint16
	servers  []*server
	cancel   context.CancelFunc // cancels all queries, including that to the first server
	outcomes chan outcome       // buffered for the outcome of the first server

	done  chan struct{} // closed when reply and err are set
	reply *dns.Msg
	err   error
}

// run waits for the outcomes of all started queries; a reply cancels the others. late means that the first
// server is slow.
func (r *race) run(ctx context.Context, late bool) {
	after := r.client.config.HedgeAfter
	attempts := max(r.client.config.Rounds, 1) * len(r.servers)
	started, ended := 1, 0
	waiting := map[*server]bool{r.servers[0]: true} // servers that have not answered yet
	hedge := newHedge(after)
	defer hedge.stop()
	start := func(why string) {
		if started == attempts {
			return
		}
		s := r.servers[started%len(r.servers)]
		started++
		waiting[s] = true
		hedge.reset()
		go func() { r.outcomes <- r.client.queryRecovered(ctx, s, r.name, r.rrtype, why) }()
	}
	defer func() {
		r.cancel()
		for ; ended < started; ended++ {
			<-r.outcomes
		}
		close(r.done)
	}()
	parallel := fmt.Sprintf(", in parallel after %s without a reply", after)
	if late {
		start(parallel)
	}
	var f failures
	for ended < started {
		select {
		case o := <-r.outcomes:
			ended++
			delete(waiting, o.server)
			if o.err == nil {
				r.client.probeSlower(ctx, waiting)
				r.reply = o.reply
				return
			}
			if ctx.Err() != nil {
				r.err = context.Cause(ctx)
				return
			}
			f.add(o)
			start(", after a failure of the previous server")
		case <-hedge.due():
			start(parallel)
		}
	}
	r.err = f.err(len(r.servers))
}

// outcome is the outcome of a query to one server.
type outcome struct {
	reply  *dns.Msg
	server *server
	err    error
}

// queryRecovered queries one server, and returns a panic during the processing of its reply as an error.
func (c *Client) queryRecovered(ctx context.Context, s *server, name string, rrtype uint16, why string) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			c.panicked(p)
			o = outcome{server: s, err: fmt.Errorf("panic while reading the reply: %v", p)}
		}
	}()
	reply, err := c.queryServer(ctx, s, name, rrtype, why)
	return outcome{reply, s, err}
}

// panicked reports a panic during the processing of a reply.
func (c *Client) panicked(value any) {
	if c.config.Panicked != nil {
		c.config.Panicked(value, debug.Stack())
	}
}

// failures are the outcomes without a reply.
type failures struct {
	failures []error
	slow     int
}

func (f *failures) add(o outcome) {
	if isTimeout(o.err) {
		f.slow++
	}
	f.failures = append(f.failures, fmt.Errorf("server %s: %w", o.server, o.err))
}

// err returns why none of the servers answered, with the errors of the first round.
func (f *failures) err(servers int) error {
	if f.slow == len(f.failures) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, f.failures[0])
	}
	// Some servers failed for another reason, so the joined error must not be a timeout.
	var errs []error
	for _, failure := range f.failures[:min(servers, len(f.failures))] {
		if isTimeout(failure) {
			failure = errors.New(failure.Error())
		}
		errs = append(errs, failure)
	}
	return resolver.Unreachable(errors.Join(errs...))
}

// hedge is the timer after which another server is queried in parallel with slow ones.
type hedge struct {
	after  time.Duration
	ticker *time.Ticker // nil if disabled
}

func newHedge(after time.Duration) hedge {
	if after <= 0 {
		return hedge{}
	}
	return hedge{after, time.NewTicker(after)}
}

func (h hedge) reset() {
	if h.ticker != nil {
		h.ticker.Reset(h.after)
	}
}

func (h hedge) due() <-chan time.Time {
	if h.ticker == nil {
		return nil
	}
	return h.ticker.C
}

func (h hedge) stop() {
	if h.ticker != nil {
		h.ticker.Stop()
	}
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}
