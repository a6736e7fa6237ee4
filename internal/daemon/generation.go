package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// Generation is what a configuration is made into. It is in force until another one takes
// its place, and lives until its last request ends. Restore and Save may be nil.
type Generation struct {
	Endpoints    []Endpoint
	Log          *slog.Logger
	Connections  listen.ConnectionLimits
	WriteTimeout time.Duration // for a client to read a chunk of a response
	MemoryLimit  int64         // octets; 0 is no limit
	Watch        bool          // reload when the file of the configuration changes
	// Parts are for Load, which gets the generation before.
	Parts any
	// Ready returns when the service is ready, or is not in time.
	Ready func(ctx context.Context)
	// ReadyLog returns the attributes of the log record that says so.
	ReadyLog func(address func(name string) string) []any
	// Restore is called in the background when the first generation answers, and Save
	// when the last one has answered all.
	Restore, Save func()
	// Reopen opens log files anew, which may have been renamed, where the configuration
	// is not taken.
	Reopen func() error
	// Close is called after the last request.
	Close func()

	running sync.WaitGroup // requests
}

// retire closes a generation when its last request ends.
func (g *Generation) retire() {
	g.running.Wait()
	g.Close()
}

// handler returns that of an endpoint. One that has just ended is answered 503.
func (g *Generation) handler(name string) http.Handler {
	for i := range g.Endpoints {
		if g.Endpoints[i].Name == name {
			return g.Endpoints[i].Handler
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}

// current is the generation in force. It is safe for concurrent use.
type current struct {
	mu         sync.RWMutex
	generation *Generation
}

// acquire returns the generation in force, which then lives until its running is done.
func (c *current) acquire() *Generation {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.generation.running.Add(1)
	return c.generation
}

// replace puts a generation in force, and returns the one before it.
func (c *current) replace(next *Generation) *Generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.generation
	c.generation = next
	return before
}

// handler passes each request on to the handler of an endpoint in the generation in
// force.
func (c *current) handler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := c.acquire()
		defer g.running.Done()
		g.handler(name).ServeHTTP(w, r)
	})
}

// probe answers a probe: it came as far as a request does.
func (c *current) probe() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		g := c.acquire()
		defer g.running.Done()
		w.WriteHeader(http.StatusNoContent)
	})
}
