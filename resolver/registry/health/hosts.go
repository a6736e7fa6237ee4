package health

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxServerDelay is the maximum time that a check waits for a server that has requested a delay.
	maxServerDelay = 10 * time.Second
	// maxHosts is the number of servers from which on idle ones are removed.
	maxHosts = 10_000
)

// hosts limits requests: one at a time per server with a pause after it, none to a server during the delay
// that it requested, and an overall rate. It is safe for concurrent use.
type hosts struct {
	pause   time.Duration // after a request to a server
	overall *rate.Limiter // for requests to all servers
	now     func() time.Time
	after   func(time.Duration) <-chan time.Time

	mu  sync.Mutex
	all map[string]*host
}

// host is the state of a server: scheme, name and port.
type host struct {
	free  chan struct{} // a semaphore: has one element while no request is in progress
	users int           // goroutines that request or wait
	next  time.Time     // time of the next allowed request
}

func newHosts(
	pause time.Duration, perSecond int, now func() time.Time, after func(time.Duration) <-chan time.Time,
) *hosts {
	overall := rate.NewLimiter(rate.Limit(max(perSecond, 1)), 1)
	return &hosts{pause: pause, overall: overall, now: now, after: after, all: make(map[string]*host)}
}

// enter waits until a server may be requested. It returns false if that would take too long, or ctx has
// ended. After true, leave must be called.
func (h *hosts) enter(ctx context.Context, name string) bool {
	server := h.use(name)
	select {
	case <-server.free:
	case <-ctx.Done():
		h.unuse(server)
		return false
	}
	h.mu.Lock()
	wait := server.next.Sub(h.now())
	h.mu.Unlock()
	if wait > max(h.pause, maxServerDelay) || !h.sleep(ctx, wait) || !h.sleep(ctx, h.turn()) {
		server.free <- struct{}{}
		h.unuse(server)
		return false
	}
	return true
}

// leave ends a request to a server. alone is the delay that the server requested.
func (h *hosts) leave(name string, alone time.Duration) {
	h.mu.Lock()
	server := h.all[name]
	server.next = h.now().Add(max(h.pause, alone))
	h.mu.Unlock()
	server.free <- struct{}{}
	h.unuse(server)
}

// waits returns the remaining delay of a server.
func (h *hosts) waits(name string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if server := h.all[name]; server != nil {
		return server.next.Sub(h.now())
	}
	return 0
}

func (h *hosts) use(name string) *host {
	h.mu.Lock()
	defer h.mu.Unlock()
	server := h.all[name]
	if server == nil {
		h.forget()
		server = &host{free: make(chan struct{}, 1)}
		server.free <- struct{}{}
		h.all[name] = server
	}
	server.users++
	return server
}

func (h *hosts) unuse(server *host) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server.users--
}

// forget removes idle servers if there are many; h.mu is held.
func (h *hosts) forget() {
	if len(h.all) < maxHosts {
		return
	}
	now := h.now()
	for name, server := range h.all {
		if server.users == 0 && !server.next.After(now) {
			delete(h.all, name)
		}
	}
}

// turn reserves the next request of the overall rate, and returns the delay until then.
func (h *hosts) turn() time.Duration {
	now := h.now()
	return h.overall.ReserveN(now, 1).DelayFrom(now).Round(time.Microsecond) // hides floating-point errors
}

// sleep waits. It returns false if ctx ended before.
func (h *hosts) sleep(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-h.after(wait):
		return true
	}
}
