package listen

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// clientWait is what requests of a connection that wait for others than its client know of it. The zero value has none.
type clientWait struct {
	mu       sync.Mutex
	count    int                // of BeginWait without EndWait
	since    time.Time          // when the first of them has begun
	server   context.Context    //nolint:containedctx // that of all connections; nil before the first
	requests *lifetime.Lifetime // that of all requests of the connection; nil before the first
	unfollow func() bool        // the end of the server
	half     context.Context    //nolint:containedctx // HalfClosed
	halfEnd  context.CancelFunc
	hasEnded bool // the connection has
}

// BeginWait begins a wait of a request for others than its client: an origin, a store, or another request. Until
// EndWait the server looks whether the client has left. The context ends when it has, when the connection ends, and
// when the server cuts off what is under way at its end. Waits may be nested, as those of the streams of HTTP/2 are.
func (c *Conn) BeginWait() context.Context {
	w := &c.wait
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count++; w.count == 1 {
		w.since = c.tracked.server.config.Now()
		c.tracked.waiting.Add(1)
	}
	if w.requests == nil {
		w.requests = new(lifetime.Lifetime) // to watch it costs a request nothing
		w.server, w.unfollow = c.tracked.base, w.requests.Follow(c.tracked.base)
		if w.hasEnded {
			w.endRequests()
		}
	}
	return w.requests
}

// EndWait ends what BeginWait has begun.
func (c *Conn) EndWait() {
	w := &c.wait
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 {
		c.tracked.waiting.Add(-1)
	}
}

// HalfClosed returns a context that ends when the client has ended its side of the connection while a request waits: it
// may have left, or may wait for the response.
func (c *Conn) HalfClosed() context.Context {
	c.wait.mu.Lock()
	defer c.wait.mu.Unlock()
	c.wait.makeHalf()
	return c.wait.half
}

// makeHalf makes the context of HalfClosed; w.mu is held.
func (w *clientWait) makeHalf() {
	if w.half == nil {
		w.half, w.halfEnd = context.WithCancel(context.Background())
	}
}

// halfClose notes that the client has ended its side.
func (w *clientWait) halfClose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.makeHalf()
	w.halfEnd()
}

// end ends the context of requests.
func (w *clientWait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hasEnded = true
	if w.requests != nil {
		w.endRequests()
	}
}

// endRequests ends their context: by the cause of the server where that has ended, of which unfollow may have kept them from
// hearing. w.mu is held.
func (w *clientWait) endRequests() {
	w.unfollow()
	w.requests.End(context.Cause(w.server))
}

// longerThan reports whether a request waits, and has waited for so long.
func (w *clientWait) longerThan(d time.Duration, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count > 0 && now.Sub(w.since) >= d
}

// watchEvery is how often the server looks whether clients have left whose requests wait for longer than that.
const watchEvery = time.Second

// watch ends the waits of clients that have left, until ctx ends. To read from the client and to wait for an origin at
// a time would take a second goroutine for each request, most of which are answered before anybody looks; and a read
// would take what is pipelined.
func (t *connections) watch(ctx context.Context) {
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			t.watchOnce(t.server.config.Now())
		case <-ctx.Done():
			return
		}
	}
}

func (t *connections) watchOnce(now time.Time) {
	if t.waiting.Load() == 0 {
		return
	}
	for _, c := range t.all() {
		if !c.wait.longerThan(watchEvery, now) {
			continue
		}
		halfClosed, left := peerState(c.client.Conn)
		if halfClosed {
			c.wait.halfClose()
		}
		if left {
			c.wait.end()
		}
	}
}
