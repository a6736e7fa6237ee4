package http1

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
)

// response is the httpmessage.ResponseWriter of the current request of a connection. It is reused for the next one.
type response struct {
	work *work

	interim sync.Mutex // held to begin the response, and to write an interim one: several goroutines may want to
	status  int        // 0 before WriteHeader

	minor   int  // minor version of HTTP/1 of the client
	head    bool // the request is HEAD
	framing framing
	left    int64 // bytes left of content with a known length
	counted int64 // bytes of content that are not sent

	started bool // the header section is complete
	closes  bool // the connection closes after the response
	dated   bool // the fields contain Date
	trailed bool // trailers are announced
	taken   bool // see Hijack
	waiting bool // see wait
	// mark is the start of the response in the output buffer; sent is whether a part of it was written.
	mark int
	sent bool
	err  error // of a write, after which nothing is written

	ctx    context.Context    //nolint:containedctx // it is that of the request
	cancel context.CancelFunc // nil without a body
}

// framing is how the end of the content is determined: RFC 9112 section 6.3.
type framing uint8

const (
	framingOpen    framing = iota // depends on the size of the content
	framingLength                 // Content-Length is sent
	framingChunked                // RFC 9112 section 7.1
	framingClose                  // closing the connection
	framingNone                   // no content
)

// The sizes of buffered content, in bytes: of content that gets a Content-Length, and of parts that are
// copied after the header section. With TLS a response should be one record (RFC 8446 section 5.1): copying
// costs less than a second one.
const (
	maxOpenContent  = 2 << 10
	maxCopied       = 8 << 10
	maxCopiedSecure = 16 << 10
)

var (
	errAborted       = errors.New("the response was aborted")
	errEndedEarly    = errors.New("the response ended early")
	errContentLength = errors.New("the content is longer than its Content-Length")
	errBegun         = errors.New("the connection cannot be hijacked after the response has started")
	errContent       = errors.New("the connection cannot be hijacked before the content of the request was read")
)

// reset initializes the response for the next request.
func (r *response) reset(c *connection) {
	w := c.work
	r.forget()
	r.minor, r.head, r.closes = w.request.Minor, w.request.Method == http.MethodHead, w.request.Close
	r.mark = len(w.out)
}

// forget clears the last response.
func (r *response) forget() {
	r.status, r.minor, r.head = 0, 0, false
	r.framing, r.left, r.counted = framingOpen, -1, 0
	r.started, r.closes, r.dated, r.trailed, r.taken = false, false, false, false, false
	r.mark, r.sent, r.err, r.ctx, r.cancel, r.waiting = 0, false, nil, nil, nil, false
	if w := r.work; w != nil {
		w.content, w.trailer = w.content[:0], w.trailer[:0]
	}
}

func (r *response) conn() Conn { return r.work.conn.conn }

// wait starts to watch the client. A failure of the content ends the request, too.
func (r *response) wait() {
	r.ctx, r.waiting = r.conn().BeginWait(), true
	if r.work.body != nil {
		r.ctx, r.cancel = context.WithCancel(r.ctx)
	}
}

// fail marks the response as failed, because the client has disconnected before Continue: nothing is written.
func (r *response) fail(err error) {
	r.err = err
	r.ctx, r.cancel = context.WithCancel(r.ctx)
	r.cancel()
}

// cancelWait ends the context of the request, because reading its content has failed.
func (r *response) cancelWait() {
	if r.cancel != nil {
		r.cancel()
	}
}

// endWait is the reverse of wait.
func (r *response) endWait() {
	r.cancelWait()
	r.endWatch()
}

// endWatch stops to watch the client.
func (r *response) endWatch() {
	if r.waiting {
		r.waiting = false
		r.conn().EndWait()
	}
}

// Context implements httpmessage.ResponseWriter.
func (r *response) Context() context.Context { return r.ctx }

// HalfClosed implements httpmessage.ResponseWriter.
func (r *response) HalfClosed() context.Context { return r.conn().HalfClosed() }

// Available implements httpmessage.ResponseWriter.
func (*response) Available() int64 { return math.MaxInt64 }

// BodyTimedOut implements httpmessage.ResponseWriter.
func (r *response) BodyTimedOut() bool {
	b := r.work.body
	return b != nil && b.late.Load()
}

// SetReadDeadline implements httpmessage.ResponseWriter. Without a body it does nothing.
func (r *response) SetReadDeadline(t time.Time) error {
	if r.work.body == nil {
		return nil
	}
	return r.work.body.setDeadline(t)
}

// Attach implements httpmessage.ResponseWriter.
func (r *response) Attach(newOne func() io.Closer) io.Closer {
	c := r.work.conn
	if c.attached == nil {
		c.attached = newOne()
	}
	return c.attached
}

// Write implements httpmessage.ResponseWriter.
func (r *response) Write(p []byte) (int, error) {
	one := [1][]byte{p}
	n, err := r.WriteBuffers(one[:])
	return int(n), err
}

// WriteBuffers implements httpmessage.ResponseWriter.
func (r *response) WriteBuffers(buffers [][]byte) (int64, error) {
	size := 0
	for _, b := range buffers {
		size += len(b)
	}
	open, err := r.admit(size)
	if err != nil {
		return 0, err
	}
	if open {
		for _, b := range buffers {
			r.work.content = append(r.work.content, b...)
		}
		return int64(size), nil
	}
	if r.append(size, buffers); r.err != nil {
		return 0, r.err
	}
	return int64(size), nil
}

// admit accepts n bytes of content. If open is true, the caller buffers them, else it sends them. After an
// error they are discarded.
func (r *response) admit(size int) (open bool, err error) {
	n := int64(size)
	if r.status == 0 {
		r.WriteHeader(http.StatusOK, "", nil)
	}
	switch {
	case r.err != nil:
		return false, r.err
	case r.framing == framingNone:
		r.counted += n
		return false, nil
	case r.framing == framingLength && n > r.left:
		return false, errContentLength
	case !r.started && r.framing == framingOpen && len(r.work.content)+size <= maxOpenContent:
		return true, nil
	}
	r.start(false)
	if r.framing == framingLength {
		r.left -= n
	}
	return false, r.err
}

// append appends a part of the content of the given size to the output buffer, or writes it with the buffer.
func (r *response) append(size int, buffers [][]byte) {
	w := r.work
	if r.framing == framingNone || size == 0 { // an empty chunk would be the last one
		return
	}
	if r.framing == framingChunked {
		w.out = syntax.AppendChunkSize(w.out, size)
	}
	if r.copies(size) {
		for _, b := range buffers {
			w.out = append(w.out, b...)
		}
	} else {
		r.writeBehind(buffers)
	}
	if r.framing == framingChunked {
		w.out = append(w.out, "\r\n"...)
	}
}

// copies reports whether a part of the content is copied to the output buffer.
func (r *response) copies(size int) bool {
	most := maxCopied
	if r.conn().Secure() {
		most = maxCopiedSecure
	}
	return size <= most && len(r.work.out)+size <= maxGathered
}

// writeBehind writes the output buffer and then buffers, in one call.
func (r *response) writeBehind(buffers [][]byte) {
	w := r.work
	w.vector = append(append(w.vector[:0], w.out), buffers...)
	if r.err == nil {
		_, r.err = r.conn().WriteBuffers(net.Buffers(w.vector))
	}
	clear(w.vector[:cap(w.vector)])
	w.out, r.mark, r.sent = w.out[:0], 0, true
}

// ReadFrom implements httpmessage.ResponseWriter.
func (r *response) ReadFrom(from io.Reader) (int64, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK, "", nil)
	}
	limited, ok := from.(*io.LimitedReader)
	if !ok || r.framing != framingLength || limited.N > r.left || r.err != nil {
		return io.Copy(onlyWriter{r}, from)
	}
	if err := r.Flush(); err != nil {
		return 0, err
	}
	n, err := r.conn().ReadFrom(from)
	r.left -= n
	r.err = err
	return n, err
}

// onlyWriter hides all methods but Write.
type onlyWriter struct{ io.Writer }

// Flush implements httpmessage.ResponseWriter.
func (r *response) Flush() error {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK, "", nil)
	}
	if r.err == nil {
		r.start(false)
		r.err = r.work.conn.flush()
	}
	return r.err
}

// Abort implements httpmessage.ResponseWriter. If nothing of the response was sent, earlier responses are
// still sent, without a reset.
func (r *response) Abort() {
	r.interim.Lock()
	defer r.interim.Unlock()
	if r.err = errAborted; r.sent {
		r.conn().Abort()
	}
}

// Truncate implements httpmessage.ResponseWriter.
func (r *response) Truncate() bool {
	if r.status == 0 || r.Flush() != nil {
		return false
	}
	if r.framing != framingChunked && (r.framing != framingLength || r.left == 0) {
		return false
	}
	r.err = errEndedEarly
	return true
}

// Hijack implements httpmessage.ResponseWriter.
func (r *response) Hijack() (net.Conn, []byte, error) {
	w := r.work
	c := w.conn
	if b := w.body; b != nil && !b.complete() {
		return nil, nil, errContent
	}
	r.interim.Lock()
	begun := r.status != 0 || r.err != nil
	if !begun {
		r.status = http.StatusSwitchingProtocols // no interim response may follow
	}
	r.interim.Unlock()
	if begun {
		return nil, nil, errBegun
	}
	if r.err = c.flush(); r.err == nil {
		r.err = c.conn.SetReadDeadline(time.Time{})
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	var read []byte
	if w.start < w.end {
		read = append(read, w.in.data[w.start:w.end]...)
	}
	r.taken, r.err = true, errBegun
	r.endWatch() // the new owner of the connection sees its end
	c.detach()
	c.conn.Release()
	return c.conn, read, nil
}
