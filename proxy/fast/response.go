package fast

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Conn is what a Response is written to.
type Conn interface {
	io.Writer
	io.ReaderFrom
	// WriteBuffers writes several buffers as one, which it consumes.
	WriteBuffers(buffers net.Buffers) (int64, error)
	// Abort ends the connection in the middle of a response.
	Abort()
	// IsEnding reports whether the client is asked to close the connection behind the response.
	IsEnding() bool
	// Drain reads what is left of the body of the request before the response begins, and reports whether another request can
	// follow.
	Drain() bool
	// SetReadDeadline sets the time at which reads of that body end; the zero value is the one that they have.
	SetReadDeadline(t time.Time) error
}

// Response is the http.ResponseWriter of a plain request: it writes what net/http would write by HTTP/1.1, in its order and its
// spelling, in the goroutine of the connection. The zero value must be Reset. It is not safe for concurrent use.
type Response struct {
	conn   Conn
	date   func() []byte
	isHead bool
	closes bool // the client wants the connection to end
	drains bool // the request has a body

	header http.Header
	lines  []httpmessage.Field // those that are written, by their names as http.Header has them
	reason words
	out    []byte // what is to be written: the head, and what is behind it
	body   []byte // what came before it was known how the body is framed

	status    int // 0 before WriteHeader
	framing   responseFraming
	left      int64 // of a body whose length is known
	isStarted bool  // the head is complete
	isLast    bool  // the connection ends behind the response
	isTyped   bool  // the fields have a Content-Type, or a content coding that hides the type, or none is to be guessed
	isTrailed bool  // they announce trailers
	isDated   bool
	err       error // of a write
}

// responseFraming is how the end of a response is found.
type responseFraming uint8

const (
	framingOpen    responseFraming = iota // to be decided by how much comes: RFC 9112 section 6.3
	framingLength                         // Content-Length is sent
	framingChunked                        // RFC 9112 section 7.1
	framingNone                           // no body is sent: of HEAD, 204 and 304
)

// words are those of a status.
type words struct {
	status int
	text   string
}

// The sizes of what is gathered before it is written: of a body that may get a length, as with net/http, and of octets.
const (
	maxOpenBody = 2 << 10
	maxGathered = 8 << 10
	sniffed     = 512 // octets of which http.DetectContentType makes a type
)

// Reset makes the response that of another request; date returns the text of the field Date.
func (r *Response) Reset(conn Conn, to *Request, date func() []byte) {
	clear(r.header)
	if r.header == nil {
		r.header = make(http.Header)
	}
	*r = Response{
		conn: conn, date: date, isHead: to.IsHead(), closes: to.Closes, drains: to.Length > 0,
		header: r.header, lines: r.lines[:0], out: r.out[:0], body: r.body[:0],
	}
}

// Header implements http.ResponseWriter.
func (r *Response) Header() http.Header { return r.header }

// SetReason sets the words of a status, which are sent in place of those that net/http knows.
func (r *Response) SetReason(status int, reason string) {
	if reason != http.StatusText(status) {
		r.reason = words{status, reason}
	}
}

// start completes the head, before next of the body is added. Of a body that is whole, what has come is all of it.
func (r *Response) start(isWhole bool, next []byte) {
	if r.isStarted {
		return
	}
	r.isStarted = true
	r.closes = r.closes || r.conn.IsEnding()
	if r.drains && !r.isLast && !r.closes && !r.conn.Drain() { // a client may not read before it has sent all
		r.closes = true
	}
	if !r.isDated {
		r.out = append(append(append(r.out, "Date: "...), r.date()...), "\r\n"...)
	}
	if isWhole {
		r.measure()
	}
	if !r.isTyped && len(r.body)+len(next) > 0 {
		beginning := append(r.body, next[:min(len(next), sniffed)]...)[:min(len(r.body)+len(next), sniffed)]
		r.out = append(append(append(r.out, "Content-Type: "...), http.DetectContentType(beginning)...), "\r\n"...)
	}
	if r.closes && !r.isLast {
		r.isLast = true
		r.out = append(r.out, "Connection: close\r\n"...)
	}
	if r.framing == framingOpen {
		r.framing = framingChunked
		r.out = append(r.out, "Transfer-Encoding: chunked\r\n"...)
	}
	r.out = append(r.out, "\r\n"...)
	body := r.body
	r.body = r.body[:0]
	if len(body) > 0 {
		r.append(body)
	}
}

// measure gives a body that is whole its length, unless trailers follow it.
func (r *Response) measure() {
	isOpen := r.framing == framingOpen
	isOfHead := r.isHead && r.left < 0 && len(r.body) > 0
	if r.isTrailed || !isOpen && !isOfHead {
		return
	}
	r.out = append(strconv.AppendInt(append(r.out, "Content-Length: "...), int64(len(r.body)), 10), "\r\n"...)
	if isOpen {
		r.framing, r.left = framingLength, int64(len(r.body))
	}
}

// Write implements io.Writer.
func (r *Response) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	switch {
	case len(p) == 0: // as a chunk it would be the last one
		return 0, nil
	case r.err != nil:
		return 0, r.err
	case r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		return 0, http.ErrBodyNotAllowed
	case r.left >= 0 && int64(len(r.body)+len(p)) > r.left && r.framing == framingLength:
		return 0, http.ErrContentLength
	case !r.isStarted && len(r.body)+len(p) <= maxOpenBody && (r.framing == framingOpen || r.isHead || r.drains):
		r.body = append(r.body, p...)
		return len(p), nil
	}
	r.start(false, p)
	r.append(p)
	return len(p), r.err
}

// append adds octets of the body, and sends what is many.
func (r *Response) append(p []byte) {
	switch r.framing {
	case framingNone:
		return
	case framingChunked:
		r.out = append(strconv.AppendInt(r.out, int64(len(p)), 16), "\r\n"...)
	case framingLength:
		r.left -= int64(len(p))
	case framingOpen: // start has decided
	}
	if len(r.out)+len(p) <= maxGathered {
		r.out = append(r.out, p...)
	} else if r.err == nil {
		_, r.err = r.conn.WriteBuffers(net.Buffers{r.out, p})
		r.out = r.out[:0]
	}
	if r.framing == framingChunked {
		r.out = append(r.out, "\r\n"...)
	}
}

// send writes what was gathered.
func (r *Response) send() {
	if r.err == nil && len(r.out) > 0 {
		_, r.err = r.conn.Write(r.out)
	}
	r.out = r.out[:0]
}

// ReadFrom implements io.ReaderFrom: a file is sent without copying it.
func (r *Response) ReadFrom(from io.Reader) (int64, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	limited, isLimited := from.(*io.LimitedReader)
	if r.framing != framingLength || !isLimited || limited.N > r.left {
		return io.Copy(onlyWriter{r}, from)
	}
	r.start(false, nil)
	if r.send(); r.err != nil {
		return 0, r.err
	}
	n, err := r.conn.ReadFrom(from)
	r.left -= n
	return n, err
}

// onlyWriter hides all but Write.
type onlyWriter struct{ io.Writer }

// FlushError is for http.ResponseController.
func (r *Response) FlushError() error {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.start(false, nil)
	r.send()
	return r.err
}

// SetWriteDeadline is for http.ResponseController. The connection has deadlines of its own; one in the past aborts it.
func (r *Response) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() && t.Before(time.Unix(1<<20, 0)) {
		r.err = errAborted
		r.conn.Abort()
	}
	return nil
}

var errAborted = errors.New("the response was aborted")

// SetReadDeadline is for http.ResponseController.
func (r *Response) SetReadDeadline(t time.Time) error { return r.conn.SetReadDeadline(t) }

// Finish ends the response, and reports whether another one may follow it.
func (r *Response) Finish() (persists bool) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.start(true, nil)
	if r.framing == framingChunked {
		r.out = append(r.out, "0\r\n"...)
		r.appendTrailer()
		r.out = append(r.out, "\r\n"...)
	}
	r.send()
	clear(r.lines) // a pooled one would hold their memory
	return r.err == nil && !r.isLast && (r.framing != framingLength || r.left == 0)
}
