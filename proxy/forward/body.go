package forward

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// requestBody is the body of a request on its way to the origin. One goroutine reads it; Close ends
// a read that waits, and what is left stays with the server.
type requestBody struct {
	body        io.Reader
	setDeadline func(time.Time) error // of reads
	ended       atomic.Bool           // all was read
	cut         atomic.Bool           // reads end at once
	late        atomic.Bool           // the client took too long
}

// Read implements io.Reader.
func (b *requestBody) Read(p []byte) (int, error) {
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
	if b.ended.Load() {
		return nil
	}
	b.cut.Store(true)
	return b.setDeadline(time.Unix(1, 0))
}

// release lets the server read what is left: a connection that is closed before that could take the
// response with it (RFC 9112 section 9.6).
func (b *requestBody) release() {
	if b.cut.Load() {
		_ = b.setDeadline(time.Time{})
	}
}
