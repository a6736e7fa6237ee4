package listen

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// connections tracks the connections of a Serve.
type connections struct {
	server  *Server
	running *sync.WaitGroup // of all goroutines of the Serve
	// base is the parent of the contexts of requests.
	base     context.Context //nolint:containedctx // it ends with the Serve
	draining atomic.Bool     // clients are asked to close their connections
	closing  atomic.Bool     // idle connections are closed
	waiting  atomic.Int64    // connections with a BeginWait

	mu   sync.Mutex
	open map[*Conn]struct{}
	// Closed when a connection has ended, or is used for the first time; nil if no goroutine waits.
	changed chan struct{}
}

func newConnections(server *Server, base context.Context, running *sync.WaitGroup) *connections {
	return &connections{server: server, running: running, base: base, open: make(map[*Conn]struct{})}
}

// add starts to track a connection; remove stops to track it.
func (t *connections) add(c *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[c] = struct{}{}
}

func (t *connections) remove(c *Conn) {
	t.mu.Lock()
	delete(t.open, c)
	t.mu.Unlock()
	if unused := t.server.config.Unused; unused != nil && !c.used.Load() {
		unused()
	}
	t.signal()
}

// signal wakes all goroutines that wait for a change, such as AnnounceShutdown and the end of Serve.
func (t *connections) signal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// change returns a channel that is closed at the next change. It must be called before the state is checked.
func (t *connections) change() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

// all returns the connections.
func (t *connections) all() []*Conn {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]*Conn, 0, len(t.open))
	for c := range t.open {
		all = append(all, c)
	}
	return all
}

// isDraining reports whether clients are asked to close their connections.
func (t *connections) isDraining() bool { return t.server.announced.Load() || t.draining.Load() }

// announce calls the functions of OnDrain, each in a goroutine, as some of the clients may not read.
func (t *connections) announce() {
	t.mu.Lock() // no connection ends meanwhile, so that running does not become zero
	defer t.mu.Unlock()
	for c := range t.open {
		if c.drain.pending() {
			t.running.Go(c.drain.call)
		}
	}
}

// idled is called when a connection is idle.
func (t *connections) idled(c *Conn) {
	if t.closing.Load() && !c.drain.used() {
		c.dismiss()
	}
}

// unusedGrace is how long a connection without any data stays open at the end of the server, after it was accepted: a
// client that has just connected can still send its request, and browsers open spare connections that they never use.
// A protocol that closes its connections itself has the same time from the end of the server.
const unusedGrace = time.Second

// unreadGrace is the interval of checks of an idle connection with unread data.
const unreadGrace = 10 * time.Millisecond

// closeIdle closes idle connections, those with a grace period when it has passed. It returns then, or when ctx ends.
func (t *connections) closeIdle(ctx context.Context) {
	t.closing.Store(true)
	started := t.server.config.Now()
	for {
		changed := t.change()
		left := t.closeIdleOnce(started)
		if left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		if timer.Stop(); ctx.Err() != nil {
			return
		}
	}
}

// closeIdleOnce closes idle connections, and returns the remaining grace period of those that it left open.
// begun is when closeIdle was called.
func (t *connections) closeIdleOnce(started time.Time) (left time.Duration) {
	now := t.server.config.Now()
	for _, c := range t.all() {
		state, since := c.state.Load(), c.accepted
		if c.drain.used() {
			since = started
		}
		own := since.Add(unusedGrace).Sub(now)
		if own > 0 && (state == stateNew || state == stateIdle && c.drain.used()) {
			left = max(left, own)
			continue
		}
		if (state == stateNew || state == stateIdle) && c.client.Unread() { // it is about to be used
			left = max(left, unreadGrace)
			continue
		}
		c.dismiss()
	}
	return left
}

// cut closes all connections, and reports whether a request was in progress, other than a tunnel, which may never end.
func (t *connections) cut() (underWay bool) {
	for _, c := range t.all() {
		underWay = underWay || c.requestInProgress()
		c.cut()
	}
	return underWay
}

// empty reports whether no connection is left.
func (t *connections) empty() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.open) == 0
}

// wait returns when done reports true, or when ctx ends.
func (t *connections) wait(ctx context.Context, done func() bool) {
	for {
		changed := t.change()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// drainHook is the function of OnDrain. The zero value has none.
type drainHook struct {
	calling sync.Mutex // held while f is called
	f       atomic.Pointer[func()]
	wasSet  atomic.Bool
}

func (h *drainHook) set(f func()) {
	h.f.Store(&f)
	h.wasSet.Store(true)
}

// used reports whether a function was ever set.
func (h *drainHook) used() bool { return h.wasSet.Load() }

// pending reports whether a function is set that was not called.
func (h *drainHook) pending() bool { return h.f.Load() != nil }

func (h *drainHook) call() {
	h.calling.Lock()
	defer h.calling.Unlock()
	if f := h.f.Swap(nil); f != nil {
		(*f)()
	}
}

// clear drops the function. wait also drops it, and returns when it is not running any more.
func (h *drainHook) clear() { h.f.Store(nil) }

func (h *drainHook) wait() {
	h.clear()
	h.calling.Lock()
	defer h.calling.Unlock()
}
