package listen

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// fastBody is the body of a request that a FastPath serves, of a known length: it is read from the connection, and what is left of it
// is dealt with as net/http does. It never reads beyond its end. It is safe for concurrent use.
type fastBody struct {
	conn *FastConn

	mu   sync.Mutex
	came []byte // what has come with the head and was not read, in the buffer of the connection
	left int64
	// hasEnded is whether nothing more is to come, and isClosed whether nothing more is read.
	hasEnded, isClosed bool
	isTooLarge         bool // more was left before the response than is read for nothing
}

// maxDrained is how much of a body nobody wants is read, so that the client reads the response, and the connection goes on: that of
// net/http, in octets.
const maxDrained = 256 << 10

// Read implements io.Reader.
func (b *fastBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read(p)
}

// read is Read; b.mu is held.
func (b *fastBody) read(p []byte) (n int, err error) {
	switch {
	case b.isClosed:
		return 0, http.ErrBodyReadAfterClose
	case b.hasEnded:
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), b.left)]
	if len(b.came) > 0 {
		n = copy(p, b.came)
		b.came = b.came[n:]
	} else if n, err = b.conn.readBody(p); err != nil {
		b.conn.served.end() // as net/http ends the request where its client has left, or was too slow
	}
	b.left -= int64(n)
	switch {
	case b.left == 0:
		b.hasEnded = true
		return n, io.EOF
	case errors.Is(err, io.EOF):
		b.hasEnded = true
		return n, io.ErrUnexpectedEOF
	default:
		return n, err
	}
}

// drain is FastConn.Drain.
func (b *fastBody) drain() (persists bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < maxDrained {
		_, err := io.CopyN(io.Discard, readerFunc(b.read), maxDrained)
		return errors.Is(err, io.EOF)
	}
	b.isTooLarge = true
	return false
}

// close ends the body, and reports whether the client may still be sending. What is left is not read where the client closes the
// connection.
func (b *fastBody) close(closes bool) (isSending bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	isSending = b.isTooLarge || !b.hasEnded && !closes
	if isSending && b.left <= maxDrained {
		_, _ = io.CopyN(io.Discard, readerFunc(b.read), maxDrained) // an error ends the connection, too
	}
	b.isClosed, b.came = true, nil
	return isSending
}

// readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// BeginBody returns the body of the request that is served, of which so many octets are to come behind the head, and the first ones
// have. It is for between Begin and EndBody, and may be read by another goroutine.
func (f *FastConn) BeginBody(came []byte, length int64) io.Reader {
	f.conn.beginBody()
	if f.conn.server.config.BodyDeadline == nil {
		f.await(time.Time{}) // the one that there is bounds the wait for a request
	}
	f.body = &fastBody{conn: f, came: came[:min(int64(len(came)), length)], left: length}
	return f.body
}

// EndHandler is called when nobody reads the body any more, before the response ends.
func (f *FastConn) EndHandler() { f.conn.endHandler() }

// Drain reads what is left of a body before the response begins: many clients read no response before they have sent all. It reports
// whether another request can follow.
func (f *FastConn) Drain() (persists bool) { return f.body == nil || f.body.drain() }

// EndBody ends the body behind the response, and reports whether the client may still be sending it, so that the connection is to end
// by EndEarly. closes is whether the client ends the connection itself.
func (f *FastConn) EndBody(closes bool) (isSending bool) {
	isSending = f.body.close(closes)
	f.body = nil
	f.conn.body.inBody.Store(false)
	f.await(f.conn.server.config.Now().Add(f.conn.server.config.IdleTimeout))
	return isSending
}

// IsLate reports whether the client took too long to send a part of the body: see the function IsLate.
func (f *FastConn) IsLate() bool { return f.conn.body.late.Load() }

// SetReadDeadline sets the time at which reads of the body end; the zero value is the one that they have. Without a body there are
// none, and the client has the time that it has for its next request.
func (f *FastConn) SetReadDeadline(t time.Time) error {
	if f.body == nil {
		return nil
	}
	return f.conn.setReadDeadline(t)
}

// readBody reads a part of the body.
func (f *FastConn) readBody(p []byte) (int, error) {
	if f.conn.body.inBody.Load() {
		return f.conn.readBody(f.conn.Conn, p)
	}
	return f.conn.Conn.Read(p)
}
