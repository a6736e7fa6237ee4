package forward

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// requestBody is the body of a request on its way to the origin. One goroutine reads it; Close ends a read that waits, and what is left
// stays with the server. Who reads may go on when the exchange has ended, as a transport whose request was canceled does: release waits
// for a read that is under way, and later ones fail.
type requestBody struct {
	body        io.Reader
	setDeadline func(time.Time) error // of reads
	ended       atomic.Bool           // all was read
	cut         atomic.Bool           // reads end at once
	late        atomic.Bool           // the client took too long

	reading  sync.Mutex // held by a read
	closing  sync.Mutex // held by who changes the deadline
	released bool       // the request has ended; changed under both mutexes
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.released {
		return 0, io.ErrClosedPipe
	}
	n, err := b.body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.ended.Store(true)
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.cut.Load():
		b.late.Store(true)
	}
	return n, err
}

// Close implements io.Closer.
func (b *requestBody) Close() error {
	b.closing.Lock()
	defer b.closing.Unlock()
	if b.ended.Load() || b.released {
		return nil
	}
	b.cut.Store(true)
	return b.setDeadline(time.Unix(1, 0))
}

// release ends the reading, and lets the server read what is left: a connection that is closed before that could take the response with
// it (RFC 9112 section 9.6).
func (b *requestBody) release() {
	if !b.reading.TryLock() {
		_ = b.Close() // it fails where the read has ended, too
		b.reading.Lock()
	}
	defer b.reading.Unlock()
	b.closing.Lock()
	defer b.closing.Unlock()
	b.released = true
	if b.cut.Load() {
		_ = b.setDeadline(time.Time{})
	}
}
