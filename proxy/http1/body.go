package http1

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
)

// body is the content of a request. It is read from the connection, and never beyond its end. It is safe for
// concurrent use: a handler may write the response while it reads the body.
type body struct {
	work    *work
	conn    Conn
	config  *Config
	late    atomic.Bool // a part timed out
	expects atomic.Bool // the client waits for 100 (Continue): RFC 9110 section 10.1.1

	reading sync.Mutex            // held during reads
	left    int64                 // bytes left of a known length
	chunks  *syntax.ChunkedReader // nil for a known length
	err     error                 // of reads; io.EOF after the end, nil before

	deadlines sync.Mutex
	// The deadline set by the handler, in addition to the one of the server for each part; the zero value for none.
	until time.Time
}

// maxDiscarded is how many bytes of unread content are discarded, so that the client reads the response and
// the connection persists.
const maxDiscarded = 256 << 10

var errDiscarded = errors.New("the rest of the content was discarded, because the response has started")

func newBody(c *connection) *body {
	r := &c.work.request
	b := &body{work: c.work, conn: c.conn, config: &c.server.config, left: r.ContentLength}
	b.expects.Store(syntax.ExpectsContinue(r))
	if r.ContentLength < 0 {
		b.left = 0 // the length is unknown
		b.chunks = &syntax.ChunkedReader{In: source{b}, Trailer: r.Trailer, MaxTrailer: c.server.config.MaxHeaderBytes}
	}
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.expects.CompareAndSwap(true, false) {
		b.work.response.proceed()
	}
	n, err := b.read(p)
	// After malformed content the client is still there, and gets a response.
	if b.err != nil && !errors.Is(b.err, io.EOF) && !errors.As(b.err, new(*syntax.Error)) {
		b.work.response.cancelWait()
	}
	return n, err
}

// read is Read with reading held.
func (b *body) read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.chunks != nil {
		n, err = b.chunks.Read(p)
	} else {
		n, err = b.readLength(p)
	}
	if err == nil {
		return n, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && b.cut() {
		return n, err // set by the handler, which may continue to read
	}
	b.err = err
	return n, err
}

// readLength reads content of known length.
func (b *body) readLength(p []byte) (n int, err error) {
	n, err = b.receive(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case n > 0:
		return n, nil
	default:
		return 0, err
	}
}

// receive reads from the buffer of the header section, and then from the connection.
func (b *body) receive(p []byte) (int, error) {
	if w := b.work; w.start < w.end {
		n := copy(p, w.in.data[w.start:w.end])
		w.start += n
		return n, nil
	}
	return b.receiveMore(p)
}

// receiveMore reads from the connection.
func (b *body) receiveMore(p []byte) (int, error) {
	b.bound()
	n, err := b.conn.Read(p)
	switch {
	case n > 0:
		return n, nil
	case err == nil:
		return 0, io.ErrNoProgress
	case errors.Is(err, io.EOF):
		return 0, io.ErrUnexpectedEOF
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.cut():
		b.late.Store(true)
	}
	return 0, err
}

// source is the buffer of a connection, as the source of a chunked reader.
type source struct{ *body }

// Read implements io.Reader.
func (s source) Read(p []byte) (int, error) { return s.receive(p) }

// Buffered implements syntax.Buffer.
func (s source) Buffered() int { return s.work.end - s.work.start }

// Peek implements syntax.Buffer.
func (s source) Peek(n int) ([]byte, error) {
	w := s.work
	if w.start == w.end {
		w.ensureBuffer(&w.conn.server.memory)
		read, err := s.receiveMore(w.in.data)
		if err != nil {
			return nil, err
		}
		w.end = read
	}
	return w.in.data[w.start : w.start+n], nil
}

// Discard implements syntax.Buffer.
func (s source) Discard(n int) (int, error) {
	s.work.start += n
	return n, nil
}

// bound sets the deadline of the next part.
func (b *body) bound() {
	b.deadlines.Lock()
	defer b.deadlines.Unlock()
	_ = b.conn.SetReadDeadline(earlier(b.until, b.deadline())) // on a closed connection the read fails, too
}

// earlier returns the earlier of two deadlines; the zero value is none.
func earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// deadline returns the deadline of the server for the next part, the zero value for none.
func (b *body) deadline() time.Time {
	if b.config.BodyDeadline == nil {
		return time.Time{}
	}
	return b.config.BodyDeadline()
}

// setDeadline is ResponseWriter.SetReadDeadline.
func (b *body) setDeadline(t time.Time) error {
	b.deadlines.Lock()
	defer b.deadlines.Unlock()
	b.until = t
	return b.conn.SetReadDeadline(earlier(t, b.deadline()))
}

// cut reports whether the handler has interrupted reads by a deadline in the distant past.
func (b *body) cut() bool {
	b.deadlines.Lock()
	defer b.deadlines.Unlock()
	return !b.until.IsZero() && b.until.Before(time.Unix(1<<20, 0))
}

// complete reports whether the content was read to its end.
func (b *body) complete() bool {
	b.reading.Lock()
	defer b.reading.Unlock()
	return errors.Is(b.err, io.EOF)
}

// drain discards the unread content before the response begins, since many clients do not read the response
// before they have sent everything. It reports whether the connection can persist. Content that is being read
// by a handler is left to it: such a client reads while it sends.
func (b *body) drain() bool {
	if b.expects.Load() {
		return false // the client may or may not send the content: RFC 9110 section 10.1.1
	}
	if !b.reading.TryLock() {
		return true
	}
	defer b.reading.Unlock()
	if b.left <= maxDiscarded {
		b.discard()
	}
	return errors.Is(b.err, io.EOF)
}

// discardRest discards unread content, which the client may have to send before it reads the response.
func (b *body) discardRest() {
	b.reading.Lock()
	defer b.reading.Unlock()
	if !b.expects.Load() {
		b.discard()
	}
}

// discard reads at most maxDiscarded bytes, with one deadline for all. reading is held.
func (b *body) discard() {
	if b.err != nil {
		return
	}
	by := b.deadline()
	if by.IsZero() {
		by = b.config.Now().Add(b.config.IdleTimeout)
	}
	_ = b.setDeadline(by)                                         // on a closed connection the read fails, too
	_, _ = io.CopyN(io.Discard, readerFunc(b.read), maxDiscarded) // the error is in b.err
	if b.err == nil {
		b.err = errDiscarded
	}
}

// readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
