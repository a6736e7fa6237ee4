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

// Generation is a configuration with its handlers and resources. It is in force until the
// next one replaces it, and is closed after its last request. Restore and Save may be nil.
type Generation struct {
	Endpoints    []Endpoint
	Log          *slog.Logger
	Connections  listen.ConnectionLimits
	WriteTimeout time.Duration // for a client to read a chunk of a response
	// DrainTime is how long requests are still answered when the daemon ends, while clients are
	// asked to close their connections.
	DrainTime time.Duration
	// NoticeTime is how long connections are accepted at least when the daemon ends, while Health says that it does.
	NoticeTime  time.Duration
	MemoryLimit int64 // octets; 0 is no limit
	Watch       bool  // reload when the file of the configuration changes
	// Parts are the components of the generation, for the next call of Load.
	Parts any
	// Start starts what runs in the background, when the generation is put in force; nil does nothing.
	Start func()
	// Ready returns when the service is ready, or after a timeout.
	Ready func(ctx context.Context)
	// ReadyLog returns the attributes of the log record "urnd is ready".
	ReadyLog func(address func(name string) string) []any
	// ReloadLog are the attributes of the log record of the reload that put it in force.
	ReloadLog []any
	// Restore is called in the background when the first generation is in force, with a context that ends when the daemon stops, and
	// Save after the last request of the last one.
	Restore func(ctx context.Context)
	Save    func()
	// Reopen reopens log files, which may have been renamed, where a reload is refused.
	Reopen func() error
	// Close is called after the last request.
	Close func()

	uses
}

// start starts what runs in the background.
func (g *Generation) start() {
	if g.Start != nil {
		g.Start()
	}
}

// retire closes a generation when its last request ends.
func (g *Generation) retire() {
	g.wait()
	g.Close()
}

// endpoint returns the first endpoint of a name, nil for none: those of one name have the same handler.
func (g *Generation) endpoint(name string) *Endpoint {
	for i := range g.Endpoints {
		if g.Endpoints[i].Name == name {
			return &g.Endpoints[i]
		}
	}
	return nil
}

// uses counts the requests of a generation. The zero value has none, and is safe for concurrent use.
type uses struct {
	running atomic.Int64 // and replaced, once the generation is not in force any more
	once    sync.Once
	ended   chan struct{} // closed when nothing uses the generation any more; made by wait
}

// replaced is more than there can be requests. It is in the same number as they, so that who ends the last one learns of
// both at once: between two numbers others could begin.
const replaced = 1 << 40

// done ends a use.
func (u *uses) done() { u.ending(-1) }

// wait returns when there is no use; the generation is not in force any more.
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

// current is the generation in force. It is safe for concurrent use.
type current struct {
	generation atomic.Pointer[Generation]
}

// acquire returns the generation in force. It is not closed before its done. Requests do not wait for each other here.
func (c *current) acquire() *Generation {
	for {
		g := c.generation.Load()
		g.running.Add(1)
		if c.generation.Load() == g {
			return g
		}
		g.done() // it was replaced meanwhile, and may be closed already
	}
}

// replace puts a generation in force, and returns the previous one.
func (c *current) replace(next *Generation) *Generation { return c.generation.Swap(next) }

// probe uses the generation in force, as requests do.
func (c *current) probe() { c.acquire().done() }

// endpointHandler passes each request on to the handler of an endpoint in the generation in force.
type endpointHandler struct {
	current *current
	name    string
}

// Begin implements httpmessage.Handler. What goes on with the answer keeps the generation.
func (h endpointHandler) Begin(in *httpmessage.Incoming, w httpmessage.ResponseWriter) (rest httpmessage.Continuation) {
	g := h.current.acquire()
	defer func() {
		if rest == nil { // also behind a panic
			g.done()
		}
	}()
	e := g.endpoint(h.name)
	if e == nil { // it was just closed
		w.WriteHeader(http.StatusServiceUnavailable, "", httpmessage.FieldsOf("Connection", "close"))
		return nil
	}
	if begun := e.Handler.Begin(in, w); begun != nil {
		return continuation{begun, g}
	}
	return nil
}

// continuation is the rest of an answer by the handler of a generation.
type continuation struct {
	rest       httpmessage.Continuation
	generation *Generation
}

// Continue implements httpmessage.Continuation.
func (c continuation) Continue() {
	defer c.generation.done()
	c.rest.Continue()
}

// serveAdmin is an http.HandlerFunc.
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
