package listen

import (
	"context"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// clientWait is the state of requests of a connection that wait for an origin, a store or another request.
// The zero value has none.
type clientWait struct {
	mu       sync.Mutex
	count    int                // of BeginWait without EndWait
	since    time.Time          // when the first of them began
	server   context.Context    //nolint:containedctx // of all connections; nil before the first
	requests *lifetime.Lifetime // the context of all requests of the connection; nil before the first
	unfollow func() bool        // stops following the end of the server
	half     context.Context    //nolint:containedctx // see HalfClosed
	halfEnd  context.CancelFunc
	hasEnded bool // the connection has ended
}

// BeginWait starts a wait of a request for an origin, a store, or another request. Until EndWait the server
// checks whether the client has disconnected. The context ends when it has, when the connection ends, and
// when the server cuts off requests at its end. Waits may be nested, like those of HTTP/2 streams.
func (c *Conn) BeginWait() context.Context {
	w := &c.wait
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count++; w.count == 1 {
		w.since = c.tracked.server.config.Now()
		c.tracked.waiting.Add(1)
	}
	if w.requests == nil {
		w.requests = new(lifetime.Lifetime) // watching it costs a request nothing
		w.server, w.unfollow = c.tracked.base, w.requests.Follow(c.tracked.base)
		if w.hasEnded {
			w.endRequests()
		}
	}
	return w.requests
}

// EndWait is the reverse of BeginWait.
func (c *Conn) EndWait() {
	w := &c.wait
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 {
		c.tracked.waiting.Add(-1)
	}
}

// HalfClosed returns a context that ends when the client has closed its side of the connection while a
// request waits: it may have disconnected, or may wait for the response.
func (c *Conn) HalfClosed() context.Context {
	c.wait.mu.Lock()
	defer c.wait.mu.Unlock()
	c.wait.makeHalf()
	return c.wait.half
}

// makeHalf creates the context of HalfClosed; w.mu is held.
func (w *clientWait) makeHalf() {
	if w.half == nil {
		w.half, w.halfEnd = context.WithCancel(context.Background())
	}
}

// halfClose records that the client has closed its side.
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

// endRequests ends the context of requests, with the cause of the server if that has ended: unfollow may have
// prevented that the cause was passed on. w.mu is held.
func (w *clientWait) endRequests() {
	w.unfollow()
	w.requests.End(context.Cause(w.server))
}

// longerThan reports whether a request has been waiting for at least d.
func (w *clientWait) longerThan(d time.Duration, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count > 0 && now.Sub(w.since) >= d
}

// watchEvery is the interval of checks for disconnected clients, and the minimum wait before the first check.
const watchEvery = time.Second

// watch ends the waits of disconnected clients, until ctx ends. Reading from the client while waiting for an
// origin would need a second goroutine per request, most of which are answered before the first check; and a
// read would consume pipelined requests.
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
