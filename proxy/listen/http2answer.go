package listen

import (
	"io"
	"math"
	"net"
	"time"

	"golang.org/x/net/http2/hpack"
)

// answers are the answers to requests that came at once, which are written at once.
type answers struct {
	*answerBuffers        // nil before a request may be one that is answered
	isBegun        bool   // see begin
	last           uint32 // the last stream that was answered
}

// answerBuffers are those of a connection while it is in use.
type answerBuffers struct {
	request []byte
	gathered
	frames []byte
}

// gathered is a response by HTTP/1.1 that is sent in another form.
type gathered struct {
	octets []byte
	room   int64 // for its content
}

// maxAnswers is how many octets of frames are gathered before they are written.
const maxAnswers = 32 << 10

// answer answers a request, whose answer flush sends, and reports whether it has.
func (a *answers) answer(d *http2Dispatcher, f frame, fields []hpack.HeaderField) bool {
	if f.flags&flagEndStream == 0 || !d.isOpen() {
		return false
	}
	if a.answerBuffers == nil {
		a.answerBuffers = d.h.conn.server.dispatching.answers()
	}
	request, isHead, ok := appendRequest(a.request[:0], fields)
	if a.request = request; !ok || !a.begin(d) {
		return false
	}
	a.octets = a.octets[:0]
	a.room = min(maxAnswerFrame, d.h.reservedWindow())
	d.fast.into = &a.gathered
	used := d.fast.path.AnswerFast(d.fast, request)
	d.fast.into = nil
	if d.fast.err != nil { // it has panicked
		return true
	}
	if used == 0 {
		return false
	}
	frames, content, ok := appendResponse(a.frames, f.stream, a.octets)
	if a.frames = frames; !ok || isHead && content > 0 || int64(content) > max(a.room, 0) {
		d.fast.err = errUnsound
		return true
	}
	a.last = f.stream
	d.h.answers(f.stream, int64(content))
	if len(a.frames) > maxAnswers {
		if err := a.flush(d); err != nil {
			d.err = err
		}
	}
	return true
}

// begin begins to answer, and reports whether it can: between two frames of net/http, and while nobody else writes. To wait
// for that would keep the client from being read, which may be what it waits for.
func (a *answers) begin(d *http2Dispatcher) bool {
	if a.isBegun {
		return true
	}
	h := d.h
	if !h.writing.TryLock() {
		return false
	}
	if !h.isBetweenFrames() || !d.fast.state.CompareAndSwap(waiting, answering) {
		h.writing.Unlock()
		return false
	}
	a.isBegun = true
	return true
}

// flush sends what was answered. An error ends the connection.
func (a *answers) flush(d *http2Dispatcher) (err error) {
	if a.answerBuffers == nil {
		return nil
	}
	defer func() {
		d.h.conn.server.dispatching.answered.Put(a.answerBuffers)
		a.answerBuffers = nil
	}()
	if !a.isBegun {
		return nil
	}
	a.isBegun = false
	f := d.fast
	n := 0
	if len(a.frames) > 0 && f.err == nil {
		n, f.err = d.h.conn.Conn.Write(a.frames)
	}
	d.h.wrote(n)
	a.frames = a.frames[:0]
	d.h.writing.Unlock()
	if !f.state.CompareAndSwap(answering, waiting) { // it was closed meanwhile
		_ = f.cut()
		f.tracked.signal()
		return net.ErrClosed
	}
	if f.err != nil {
		_ = f.close()
	}
	return f.err
}

// errUnsound ends a connection: a response was made that cannot be sent.
var errUnsound = io.ErrShortWrite

// isBetweenFrames reports whether a frame can be written: net/http has sent its settings, and no GOAWAY, and is within no frame and
// no header block. h.writing is held.
func (h *http2Conn) isBetweenFrames() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hasSettings && !h.goesAway && h.out.isBetween() && len(h.open) <= h.conn.server.config.HTTP2Requests
}

// reservedWindow returns how much may be sent in an answer.
func (h *http2Conn) reservedWindow() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(h.initial, h.windows.reserved)
}

// addWindow is windows.add.
func (h *http2Conn) addWindow(increment int64) (told int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.windows.add(increment)
}

// tellAll is windows.tellAll. It is for the end of the client: while its requests are answered nothing more is read, and nothing told.
func (h *http2Conn) tellAll() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.windows.tellAll()
}

// takeDue is windows.takeDue. What a read would be ended for is done with it.
func (h *http2Conn) takeDue() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	due := h.windows.takeDue()
	if due > 0 {
		h.settle()
	}
	return due
}

// wake ends a read, so that net/http is told of more of the window. h.mu is held.
func (h *http2Conn) wake() {
	h.isWaking = true
	_ = h.conn.Conn.SetReadDeadline(time.Unix(1, 0)) // one that is closed is awake
}

// isWoken reports whether a read was ended by wake, and another one may follow it.
func (h *http2Conn) isWoken() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.settle()
}

// settle sets the deadline of reads again behind wake. h.mu is held.
func (h *http2Conn) settle() (wasWaking bool) {
	if !h.isWaking || h.conn.counted().isEvicted() {
		return false
	}
	h.isWaking = false
	_ = h.conn.Conn.SetReadDeadline(h.deadline) // a connection that is closed, for another one too, fails to be read
	return true
}

// isKnown reports whether net/http knows that a stream was used: it is open, or net/http has answered on it or on a later one. It
// does not know of one whose request it has refused as malformed.
func (h *http2Conn) isKnown(stream uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, isOpen := h.open[stream]
	return isOpen || stream <= h.known
}

// answers is called when a stream is answered with so much content, before that is written.
func (h *http2Conn) answers(stream uint32, content int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.windows.use(content)
	delete(h.open, stream)
	h.earned += emptyPerAnswer
}

// wrote is called when n octets of answers were written.
func (h *http2Conn) wrote(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent += int64(n)
	h.update()
	h.answered()
}

// IsHTTP2 reports whether the request came by HTTP/2. It is written as one by HTTP/1.1, and so is its response, whose content must
// not be larger than Room.
func (f *FastConn) IsHTTP2() bool { return f.into != nil }

// Room returns how many octets the content of the response may have that is sent by HTTP/2. By HTTP/1.1 there is no bound.
func (f *FastConn) Room() int64 {
	if f.into == nil {
		return math.MaxInt64
	}
	return f.into.room
}

// ServerName returns the name of the server in the TLS handshake by HTTP/2, "" for none.
func (f *FastConn) ServerName() string {
	if secure, ok := f.conn.Conn.(*secureConn); ok && f.into != nil {
		return secure.ConnectionState().ServerName
	}
	return ""
}
