package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/listen"
)

// Generation is a loaded configuration with its handlers and resources. It is current until the next one
// replaces it, and is closed after its last request. Restore and Save may be nil.
type Generation struct {
	Endpoints    []Endpoint
	Log          *slog.Logger
	Connections  listen.ConnectionLimits
	WriteTimeout time.Duration // time limit for a client to read a chunk of a response
	// DrainTime is the time for which requests are still served during shutdown, while clients are asked to
	// close their connections.
	DrainTime time.Duration
	// NoticeTime is the minimum time for which connections are accepted during shutdown, while Health reports
	// it.
	NoticeTime  time.Duration
	MemoryLimit int64 // in bytes; 0 for no limit
	Watch       bool  // reload when the configuration file changes
	// Parts contains the components of the generation, for the next call of Load.
	Parts any
	// Start starts background tasks when the generation becomes current; nil does nothing.
	Start func()
	// Ready returns when the service is ready, or after a timeout.
	Ready func(ctx context.Context)
	// ReadyLog returns the attributes of the log record "urnd is ready".
	ReadyLog func(address func(name string) string) []any
	// ReloadLog contains the attributes of the log record for the reload that made it current.
	ReloadLog []any
	// Restore is called in the background when the first generation becomes current, with a context that ends
	// when the daemon stops. Save is called after the last request of the last generation.
	Restore func(ctx context.Context)
	Save    func()
	// Reopen reopens log files, which may have been renamed, after a failed reload.
	Reopen func() error
	// Close is called after the last request.
	Close func()

	uses
}

// start starts background tasks.
func (g *Generation) start() {
	if g.Start != nil {
		g.Start()
	}
}

// retire closes the generation after its last request.
func (g *Generation) retire() {
	g.wait()
	g.Close()
}

// endpoint returns the first endpoint with this name, or nil: endpoints of one name share a handler.
func (g *Generation) endpoint(name string) *Endpoint {
	for i := range g.Endpoints {
		if g.Endpoints[i].Name == name {
			return &g.Endpoints[i]
		}
	}
	return nil
}

// uses counts the running requests of a generation. The zero value has none. It is safe for concurrent use.
type uses struct {
	running atomic.Int64 // number of uses, plus replaced once wait was called
	once    sync.Once
	ended   chan struct{} // closed when the generation is no longer used; created by wait
}

// replaced exceeds any possible number of requests. It is added to the same counter, so that the end of the
// last use and the replacement are observed atomically. With two variables other uses could begin in between.
const replaced = 1 << 40

// done ends a use.
func (u *uses) done() { u.ending(-1) }

// wait returns when there are no uses. The generation must no longer be current.
func (u *uses) wait() {
	u.ended = make(chan struct{})
	u.ending(replaced)
	<-u.ended
}

func (u *uses) ending(change int64) {
	if u.running.Add(change) == replaced {
		u.once.Do(func() { close(u.ended) })
	}
}

// current is the current generation. It is safe for concurrent use.
type current struct {
	generation atomic.Pointer[Generation]
}

// acquire returns the current generation, which is not closed before the caller calls done. It takes no lock.
func (c *current) acquire() *Generation {
	for {
		g := c.generation.Load()
		g.running.Add(1)
		if c.generation.Load() == g {
			return g
		}
		g.done() // it was replaced meanwhile, and may be closed
	}
}

// replace makes next the current generation and returns the previous one.
func (c *current) replace(next *Generation) *Generation { return c.generation.Swap(next) }

// probe acquires and releases the current generation as a request does.
func (c *current) probe() { c.acquire().done() }

// endpointHandler forwards each request to the handler of an endpoint in the current generation.
type endpointHandler struct {
	current *current
	name    string
}

// Begin implements httpmessage.Handler. A Continuation keeps the generation in use.
func (h endpointHandler) Begin(in *httpmessage.Incoming, w httpmessage.ResponseWriter) (rest httpmessage.Continuation) {
	g := h.current.acquire()
	defer func() {
		if rest == nil { // also after a panic
			g.done()
		}
	}()
	e := g.endpoint(h.name)
	if e == nil { // the endpoint was just closed
		w.WriteHeader(http.StatusServiceUnavailable, "", httpmessage.NewFields("Connection", "close"))
		return nil
	}
	if started := e.Handler.Begin(in, w); started != nil {
		return continuation{started, g}
	}
	return nil
}

// continuation is a Continuation of a generation's handler.
type continuation struct {
	rest       httpmessage.Continuation
	generation *Generation
}

// Continue implements httpmessage.Continuation.
func (c continuation) Continue() {
	defer c.generation.done()
	c.rest.Continue()
}

// serveAdmin is an http.HandlerFunc for the admin handler of the endpoint.
func (h endpointHandler) serveAdmin(w http.ResponseWriter, r *http.Request) {
	g := h.current.acquire()
	defer g.done()
	if e := g.endpoint(h.name); e != nil {
		e.Admin.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
}
