package scheme

import (
	"io"
	"sync"
	"time"
)

// BoundConn is a connection to a server that is bound to one client connection, because the server may have
// authenticated the client on it (RFC 4559 section 6). One exchange uses it at a time. It is safe for
// concurrent use.
type BoundConn struct {
	ended func()

	mu    sync.Mutex
	idle  IdleConn // nil before the first exchange and during an exchange
	timer *time.Timer
	over  bool
}

// IdleConn is an idle connection: no exchange uses it.
type IdleConn interface {
	io.Closer
	// Alive reports whether the server has neither closed the connection nor sent unsolicited bytes.
	Alive() bool
}

// NewBoundConn returns a BoundConn without a connection. The first call of End calls ended, once.
func NewBoundConn(ended func()) *BoundConn { return &BoundConn{ended: sync.OnceFunc(ended)} }

// Take removes and returns the idle connection for an exchange; nil means that the caller must dial a new one.
func (b *BoundConn) Take() IdleConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.idle
	b.idle = nil
	if b.timer != nil {
		b.timer.Stop()
	}
	return c
}

// Put returns the connection after an exchange. The connection is closed after the idle timeout, or immediately
// if End was called before.
func (b *BoundConn) Put(c IdleConn, timeout time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		_ = c.Close()
		return
	}
	b.idle = c
	b.timer = time.AfterFunc(timeout, b.End)
}

// Reusable reports whether the connection is idle and alive, so that another exchange can use it. Otherwise it
// ends the BoundConn.
func (b *BoundConn) Reusable() bool {
	b.mu.Lock()
	waits := b.idle != nil && b.idle.Alive()
	b.mu.Unlock()
	if !waits {
		b.End()
	}
	return waits
}

// Idle reports whether the connection is idle, alive or not.
func (b *BoundConn) Idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.idle != nil
}

// Ended reports whether End was called.
func (b *BoundConn) Ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// End closes the idle connection. A connection in use is closed by Put after its exchange.
func (b *BoundConn) End() {
	b.mu.Lock()
	c := b.idle
	b.idle, b.over = nil, true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
	b.ended()
}
