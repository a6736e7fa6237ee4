package ddds

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

const testBackoff = 5 * time.Second

// withBackoff returns a client like c that remembers silent servers, and its clock.
func (c *Client) withBackoff(t *testing.T, hedge time.Duration) (*Client, *clock) {
	t.Helper()
	now := new(clock)
	now.advance(time.Hour)
	changed := c.change(func(c *ClientConfig) { c.Backoff, c.HedgeAfter, c.Now = testBackoff, hedge, now.now })
	t.Cleanup(changed.Close)
	return changed, now
}

// awaitSilent waits until the client has detected that a server is silent.
func (c *Client) awaitSilent(t *testing.T, i int) {
	t.Helper()
	testserver.Wait(t, "server marked silent", func() bool {
		_, silent := c.servers[i].wait(c.config.Now())
		return silent
	})
}

// While the only server is silent, other names fail immediately. After the backoff, a single query is sent
// again.
func TestSilentServerIsRemembered(t *testing.T) {
	var answers atomic.Bool
	good := replyWith("a.example.").handler(t)
	addr := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		if answers.Load() {
			good(w, q)
		}
	}, nil)
	c, now := newTestClient(shortTimeout, addr).withBackoff(t, 0)
	if _, _, err := c.NAPTR(t.Context(), name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the first name: %v", err)
	}
	if c.awaitSilent(t, 0); len(c.Avoided()) != 1 || c.Avoided()[0].Server != addr ||
		c.Avoided()[0].Until.Before(now.now()) {
		t.Errorf("it avoids %+v", c.Avoided())
	}
	answers.Store(true)
	_, _, err := c.NAPTR(t.Context(), "other.urn.arpa.")
	if !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "no DNS server answers ("+addr+"); next attempt in 5s") {
		t.Errorf("another name, meanwhile: %v", err)
	}
	now.advance(testBackoff)
	expectReply(t, c, "a.example.")
	expectReply(t, c, "a.example.")
	if all := c.Avoided(); all != nil {
		t.Errorf("it avoids %+v", all)
	}
}

// A server that is slow for one name only is not silent.
func TestSlowNameIsNotSilence(t *testing.T) {
	good := replyWith("a.example.").handler(t)
	probed := make(chan struct{}, 10)
	addr := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		switch q.Question[0].Name {
		case "slow.urn.arpa.":
		case ".":
			good(w, q)
			probed <- struct{}{}
		default:
			good(w, q)
		}
	}, nil)
	c, _ := newTestClient(longTimeout, addr).withBackoff(t, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, _, err := c.NAPTR(ctx, "slow.urn.arpa.")
		ended <- err
	}()
	<-probed
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	expectReply(t, c, "a.example.")
}

// A silent server is not queried while another one answers, and is probed in the background.
func TestSilentServerIsProbed(t *testing.T) {
	var requested atomic.Int32
	var answers atomic.Bool
	good := replyWith("a.example.").handler(t)
	first := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		requested.Add(1)
		if answers.Load() {
			good(w, q)
		}
	}, nil)
	c, now := newTestClient(shortTimeout, first, serve(t, replyWith("b.example.").handler(t), nil)).withBackoff(t,
		time.Millisecond)
	expectReply(t, c, "b.example.")
	c.awaitSilent(t, 0)
	before := requested.Load()
	expectReply(t, c, "b.example.")
	if n := requested.Load() - before; n != 0 {
		t.Errorf("silent server queried %d times", n)
	}
	answers.Store(true)
	now.advance(testBackoff)
	expectReply(t, c, "b.example.")
	testserver.Wait(t, "first server queried again", func() bool {
		_, silent := c.servers[0].wait(now.now())
		return !silent
	})
	c = c.change(func(c *ClientConfig) { c.HedgeAfter = 0 })
	expectReply(t, c, "a.example.")
}

func TestCloseEndsProbes(t *testing.T) {
	c, _ := newTestClient(longTimeout, serve(t, silent, nil)).withBackoff(t, 0)
	c.probe(t.Context(), c.servers[0])
	c.Close()
	c.probe(t.Context(), c.servers[0])
	if len(c.probes.running) != 0 {
		t.Error("a probe runs after Close")
	}
}

// A query that was cancelled because another server was faster is not traced as a timeout.
func TestHedgeIsTraced(t *testing.T) {
	slow, quick := serve(t, silent, nil), serve(t, replyWith("b.example.").handler(t), nil)
	c := newTestClient(longTimeout, slow, quick).change(func(c *ClientConfig) { c.HedgeAfter = time.Millisecond })
	ctx, trace := resolver.WithTrace(t.Context(), c.config.Now)
	if _, _, err := c.NAPTR(ctx, name); err != nil {
		t.Fatal(err)
	}
	steps := strings.Join(details(trace, "dns"), "\n")
	for _, want := range []string{
		"NAPTR at " + slow + ": cancelled, another reply was faster",
		"NAPTR at " + quick + ", in parallel after 1ms without a reply: NOERROR",
	} {
		if !strings.Contains(steps, want) {
			t.Errorf("no %q in\n%s", want, steps)
		}
	}
}
