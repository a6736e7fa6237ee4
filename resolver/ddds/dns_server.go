package ddds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// server is a DNS server with the state that the client has learned about it.
type server struct {
	Server

	mu          sync.Mutex
	answered    time.Time // time of its last reply
	silentUntil time.Time // end of the backoff; the zero time while it answers
	plainUntil  time.Time // it is queried without EDNS until then

	sameCaseUntil time.Time // it is queried in lower case until then
}

// plainFor is how long a server without EDNS support is queried without it.
const plainFor = 15 * time.Minute

func (s *server) plain(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.plainUntil)
}

func (s *server) setPlain(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plainUntil = now.Add(plainFor)
}

// replied records a reply, whatever its content.
func (s *server) replied(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered, s.silentUntil = now, time.Time{}
}

// silent records that a probe sent at a time got no reply.
func (s *server) silent(sent, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.answered.After(sent) {
		s.silentUntil = until
	}
}

// wait returns the remaining backoff of a server, and whether it is silent at all.
func (s *server) wait(now time.Time) (left time.Duration, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.silentUntil.Sub(now), 0), !s.silentUntil.IsZero()
}

// claim reports whether the caller may query a silent server again: one caller at a time may.
func (s *server) claim(now, next time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Before(s.silentUntil) {
		return false
	}
	s.silentUntil = next
	return true
}

// order returns the servers to query, in order. Silent ones are probed in the background when their backoff
// ends, or are queried if no other server is left. If all are silent, the error is context.DeadlineExceeded.
func (c *Client) order(ctx context.Context) ([]*server, error) {
	if len(c.servers) == 0 {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, errNoServers)
	}
	now := c.config.Now()
	var answering, due []*server
	var names []string
	shortest := c.config.Backoff
	for _, s := range c.servers {
		left, silent := s.wait(now)
		switch {
		case !silent:
			answering = append(answering, s)
		case left == 0:
			due = append(due, s)
		default:
			shortest = min(shortest, left)
		}
		names = append(names, s.String())
	}
	var claimed []*server
	for _, s := range due {
		if s.claim(now, now.Add(c.config.Backoff)) {
			claimed = append(claimed, s)
		}
	}
	if len(answering) == 0 && len(claimed) == 0 {
		return nil, fmt.Errorf("%w: no DNS server answers (%s); next attempt "+
			"in %s", context.DeadlineExceeded, strings.Join(names, ", "), shortest.Round(time.Millisecond))
	}
	for _, s := range claimed { // also if it is queried itself: the query may be cancelled
		c.probe(ctx, s)
	}
	if len(answering) == 0 {
		return claimed, nil
	}
	return answering, nil
}

// ErrSilent is why a server is avoided.
var ErrSilent = errors.New("no reply")

// Avoided returns the silent servers. From Until on they are queried again, one query at a time.
func (c *Client) Avoided() (all []resolver.Avoided) {
	for _, s := range c.servers {
		s.mu.Lock()
		if !s.silentUntil.IsZero() {
			all = append(all, resolver.Avoided{Server: s.String(), Err: ErrSilent, Until: s.silentUntil})
		}
		s.mu.Unlock()
	}
	return all
}

// probes are the queries in the background that detect silent servers.
type probes struct {
	mu      sync.Mutex
	closed  bool
	running map[*server]context.CancelFunc
	ended   sync.WaitGroup
}

func (p *probes) close() {
	p.mu.Lock()
	p.closed = true
	for _, cancel := range p.running {
		cancel()
	}
	p.mu.Unlock()
	p.ended.Wait()
}

// probeAfter returns the time without a reply after which a server is suspected to be silent.
func (c *Client) probeAfter() time.Duration {
	if c.config.HedgeAfter > 0 {
		return min(c.config.HedgeAfter, c.config.Timeout/4)
	}
	return c.config.Timeout / 4
}

// probe sends a server, in the background, a question that every server can answer immediately: a server that
// is slow for one name, because of the servers of that name, is not silent.
func (c *Client) probe(ctx context.Context, s *server) {
	if c.config.Backoff <= 0 {
		return
	}
	c.probes.mu.Lock()
	defer c.probes.mu.Unlock()
	if c.probes.closed || c.probes.running[s] != nil {
		return
	}
	if c.probes.running == nil {
		c.probes.running = make(map[*server]context.CancelFunc)
	}
	// The probe ends before the timeout of a query that started with it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.config.Timeout-c.probeAfter())
	c.probes.running[s] = cancel
	c.probes.ended.Go(func() {
		defer cancel()
		c.runProbe(ctx, s)
		c.probes.mu.Lock()
		defer c.probes.mu.Unlock()
		delete(c.probes.running, s)
	})
}

// probeSlower probes the servers that have not answered when another one has.
func (c *Client) probeSlower(ctx context.Context, waiting map[*server]bool) {
	for s := range waiting {
		c.probe(ctx, s)
	}
}

func (c *Client) runProbe(ctx context.Context, s *server) {
	defer func() {
		if p := recover(); p != nil { // from a reply: the server is not silent
			c.panicked(p)
		}
	}()
	sent := c.config.Now()
	network := "udp"
	if s.TLS {
		network = "tcp"
	}
	_, err := c.exchange(ctx, network, s, question(".", dns.TypeNS, s.plain(sent)))
	if err != nil && isTimeout(err) {
		s.silent(sent, c.config.Now().Add(c.config.Backoff))
	}
}
