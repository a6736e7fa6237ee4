package scheme

import (
	"io"
	"sync"
	"time"
)

// BoundConn is a connection to a server that belongs to the connection of one client, since the server may have
// authenticated that client on it (RFC 4559 section 6). One exchange uses it at a time. It is safe for concurrent use.
type BoundConn struct {
	ended func()

	mu     sync.Mutex
	idle   IdleConn // nil before its first exchange, and in one
	timer  *time.Timer
	isOver bool
}

// IdleConn is a connection that waits for its next exchange.
type IdleConn interface {
	io.Closer
	// Alive reports whether the server has neither closed it nor sent anything.
	Alive() bool
}

// NewBoundConn returns a BoundConn whose connection is still to be made. ended is called once, by the first End.
func NewBoundConn(ended func()) *BoundConn { return &BoundConn{ended: sync.OnceFunc(ended)} }

// Take returns the connection for an exchange, nil for none: a new one is made then.
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

// Put returns the connection after an exchange. It is closed after a timeout, and at once behind End.
func (b *BoundConn) Put(c IdleConn, timeout time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOver {
		_ = c.Close()
		return
	}
	b.idle = c
	b.timer = time.AfterFunc(timeout, b.End)
}

// Waits reports whether the connection can be used by another exchange. Where it cannot, the BoundConn has ended.
func (b *BoundConn) Waits() bool {
	b.mu.Lock()
	waits := b.idle != nil && b.idle.Alive()
	b.mu.Unlock()
	if !waits {
		b.End()
	}
	return waits
}

// IsIdle reports whether the connection waits for an exchange, alive or not.
func (b *BoundConn) IsIdle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.idle != nil
}

// IsOver reports whether End was called.
func (b *BoundConn) IsOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOver
}

// End closes the connection, or lets its exchange do so.
func (b *BoundConn) End() {
	b.mu.Lock()
	c := b.idle
	b.idle, b.isOver = nil, true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
	b.ended()
}
