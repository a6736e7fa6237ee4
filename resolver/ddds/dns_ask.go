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

// ask sends a query to the servers in order until one answers: to the next one when one
// fails, and in parallel when one is slow. The error is context.DeadlineExceeded if all
// were too slow, else resolver.ErrUnreachable.
func (c *Client) ask(ctx context.Context, name string, rrtype uint16) (*dns.Msg, error) {
	servers, err := c.order(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempts := max(c.config.Rounds, 1) * len(servers)
	outcomes := make(chan outcome)
	started, ended := 0, 0
	waiting := make(map[*server]bool) // those that have not answered yet
	hedge := newHedge(c.config.HedgeAfter)
	defer hedge.stop()
	start := func(why string) {
		s := servers[started%len(servers)]
		started++
		waiting[s] = true
		hedge.reset()
		go func() { outcomes <- c.askRecovered(ctx, s, name, rrtype, why) }()
	}
	defer func() {
		cancel()
		for ; ended < started; ended++ {
			<-outcomes
		}
	}()
	var f failures
	for start(""); ended < started; {
		select {
		case o := <-outcomes:
			ended++
			delete(waiting, o.server)
			if o.err == nil {
				c.probeSlower(ctx, waiting)
				return o.reply, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			f.add(o)
			if started < attempts {
				start(", as the one before failed")
			}
		case <-hedge.due():
			if started < attempts {
				start(fmt.Sprintf(", in parallel after %s without an answer", c.config.HedgeAfter))
			}
		}
	}
	return nil, f.err(len(servers))
}

// outcome is the outcome of a query to one server.
type outcome struct {
	reply  *dns.Msg
	server *server
	err    error
}

// askRecovered asks one server, and returns a panic over its reply as an error.
func (c *Client) askRecovered(ctx context.Context, s *server, name string, rrtype uint16, why string) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			c.panicked(p)
			o = outcome{server: s, err: fmt.Errorf("reading its reply panicked: %v", p)}
		}
	}()
	reply, err := c.askServer(ctx, s, name, rrtype, why)
	return outcome{reply, s, err}
}

// panicked reports a panic over a reply.
func (c *Client) panicked(value any) {
	if c.config.Panicked != nil {
		c.config.Panicked(value, debug.Stack())
	}
}

// failures are the outcomes without a reply.
type failures struct {
	faults []error
	slow   int
}

func (f *failures) add(o outcome) {
	if isTimeout(o.err) {
		f.slow++
	}
	f.faults = append(f.faults, fmt.Errorf("server %s: %w", o.server, o.err))
}

// err returns why none of the servers answered, with the faults of the first round.
func (f *failures) err(servers int) error {
	if f.slow == len(f.faults) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, f.faults[0])
	}
	// Some servers failed otherwise, so the joined error must not be a timeout.
	var errs []error
	for _, fault := range f.faults[:min(servers, len(f.faults))] {
		if isTimeout(fault) {
			fault = errors.New(fault.Error())
		}
		errs = append(errs, fault)
	}
	return fmt.Errorf("%w: %w", resolver.ErrUnreachable, errors.Join(errs...))
}

// hedge is the timer after which another server is asked in parallel with slow ones.
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
