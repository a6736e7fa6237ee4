package listen

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// served is the request that a FastPath serves on a connection, which may wait for others. It is safe for concurrent use.
type served struct {
	since atomic.Int64 // nanoseconds since 1970; 0 while there is none

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // it is that of the requests of a connection
	cancel  context.CancelFunc
	isEnded bool
}

// context returns the context of requests: it ends when the client has left.
func (s *served) context(base context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(base)
		if s.isEnded {
			s.cancel()
		}
	}
	return s.ctx
}

// end ends the requests of the connection.
func (s *served) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isEnded = true
	if s.cancel != nil {
		s.cancel()
	}
}

// Begin begins a request that is served, which may take long: until End the server knows of it when it shuts down, and looks
// whether the client has left. The context ends where it has, or with the connection.
func (f *FastConn) Begin() context.Context {
	f.tracked.begin(f.conn, f.isFirst())
	f.served.since.Store(f.conn.server.config.Now().UnixNano())
	return f.served.context(f.tracked.base)
}

// End ends what Begin has begun.
func (f *FastConn) End() {
	f.served.since.Store(0)
	f.tracked.end()
}

// Ended returns a context that ends when the client has ended its side of the connection: see the function Ended.
func (f *FastConn) Ended() context.Context { return f.conn.ended.context() }

// IsEnding reports whether clients are asked to close their connections.
func (f *FastConn) IsEnding() bool { return f.conn.server.isEnding(f.tracked) }

// Attach returns what a handler keeps with the connection: see the function Attach.
func (f *FastConn) Attach(newOne func() io.Closer) io.Closer { return f.conn.attach(newOne) }

// CloseBehind ends the connection behind the response that was written.
func (f *FastConn) CloseBehind() {
	if f.err == nil {
		f.err = io.ErrClosedPipe
	}
}

// lookEvery is how often it is looked whether clients have left whose requests take longer than that.
const lookEvery = time.Second

// look ends the requests of clients that have left, until ctx ends. To wait for the client and for an origin at once would
// take a second goroutine for each request, most of which are answered before anybody looks.
func (c *connections) look(ctx context.Context, now func() time.Time) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			c.lookOnce(now())
		case <-ctx.Done():
			return
		}
	}
}

func (c *connections) lookOnce(now time.Time) {
	if c.running.Load() == 0 {
		return
	}
	for _, f := range c.fast() {
		since := f.served.since.Load()
		if since == 0 || now.UnixNano()-since < int64(lookEvery) {
			continue
		}
		hasEnded, hasLeft := lookAt(socketOf(f.conn.Conn))
		if hasEnded {
			f.conn.ended.note()
		}
		if hasLeft {
			f.served.end()
		}
	}
}
