package forward

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// requestBody is the body of a request on its way to the origin. It is read by one goroutine. Close interrupts a
// blocked read, and leaves the rest of the body to the server. A transport may go on reading after the end of the
// exchange, for instance after a cancellation: release waits for a read in progress, and later reads fail.
type requestBody struct {
	body        io.Reader
	setDeadline func(time.Time) error // of reads
	ended       atomic.Bool           // the end was read
	cut         atomic.Bool           // reads fail immediately
	late        atomic.Bool           // the client took too long
	// trailer are the trailer fields, of which those remain that isPassed accepts: they may differ from the announced
	// ones. nil for none.
	trailer  *httpmessage.Trailer
	isPassed func(f httpmessage.Field) bool

	reading  sync.Mutex // held during a read
	closing  sync.Mutex // held while the deadline is changed
	released bool       // the request has ended; changed with both mutexes held
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
		if b.trailer != nil && len(b.trailer.Fields) > 0 {
			b.trailer.Fields = b.trailer.Fields.Filter(b.isPassed)
		}
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

// release stops reading, and lets the server read the rest: closing the connection with unread data could
// discard the response (RFC 9112 section 9.6).
func (b *requestBody) release() {
	if !b.reading.TryLock() {
		_ = b.Close() // fails if the read has ended, too
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
