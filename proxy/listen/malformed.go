package listen

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// net/http answers a request that it cannot parse itself, with a bare "400 Bad Request" or
// "431", before any handler. Users must learn which octet of their URN is wrong, so the
// request line is recorded while it is read, and the response of net/http is recognised by
// its text and replaced. Only this file depends on that text.

// Malformed is a request that net/http refused.
type Malformed struct {
	// Status is that of the response of net/http: 431 where the header is larger than MaxHeader, 505 for another version of
	// HTTP, 501 for a transfer coding, else 400.
	Status int
	Reason string // why it is not valid, such as "malformed Host header"; "" where net/http gives none
	Method string // "" where the beginning of the request line was not seen
	Target string // likewise; it may be cut off
	// PlainHTTP is whether it was sent without TLS to a port with TLS.
	PlainHTTP bool
}

// Document is the response that replaces that of net/http.
type Document struct {
	Status      int
	ContentType string
	Body        []byte
}

// requestConn is a connection that records the request line while it is read. It does not
// wrap errors: net/http checks their types.
type requestConn struct {
	net.Conn
	server *Server
	fast   *FastConn // nil for none
	// client is below TLS and the PROXY protocol, which says who it is where isProxied is set; nil for that of a probe.
	client    *clientConn
	isProxied bool

	isNew     bool         // nothing was read
	between   bool         // no octet of a request was read since the connection is new or idle
	deadlines atomic.Int32 // how many net/http has set for reads since then
	isTaken   bool         // by a handler
	handed    *handed      // what net/http reads first; nil for nothing
	lastOctet *byte        // of net/http's buffer

	head head
	body bodyReads
	line []byte // the last request line, or its beginning
	// isLineStart is whether that begins with the first octet of the request, and isReplaced whether net/http has read
	// another target: see restoreTarget.
	isLineStart, isReplaced bool
	// watched is an octet that came while a request was answered, and is read next, where hasWatched is set.
	watched    byte
	hasWatched bool
	complete   atomic.Bool               // the end of the line was seen
	handled    atomic.Bool               // the request has reached a handler
	used       atomic.Bool               // some request of the connection has reached a handler
	isPosted   bool                      // the last one was a POST
	http2      atomic.Pointer[http2Conn] // it has no request lines; nil by HTTP/1
	reason     reasonPhrase              // see SetReason
	attached   io.Closer                 // see Attach; nil for none
	ended      ended                     // see Ended

	endsEarly atomic.Bool // see EndEarly
}

// enter is called when net/http gives the connection a state.
func (c *requestConn) enter(state http.ConnState) {
	switch state {
	case http.StateIdle:
		c.begin()
	case http.StateHijacked:
		c.body.inBody.Store(false)
		c.between, c.isTaken = false, true
		if c.fast != nil {
			c.fast.between = false
		}
		c.detach()
	case http.StateClosed:
		c.detach()
		if c.fast != nil {
			_ = c.fast.cut() // a panic has left it open
		}
	case http.StateNew, http.StateActive:
	}
}

// begin is called when the connection is idle: the next octet begins a request line.
func (c *requestConn) begin() {
	if c.http2.Load() != nil { // it is read while it is idle
		return
	}
	c.line, c.isLineStart, c.isReplaced = c.line[:0], false, false
	c.reason = reasonPhrase{}
	c.head.reset()
	c.body.inBody.Store(false)
	c.complete.Store(false)
	c.handled.Store(false)
	c.between = true
	c.deadlines.Store(0)
	if c.fast != nil {
		c.fast.idle(c.isPosted)
	}
}

// beginHandler is called when a request has reached its handler. It returns false where that must not see it: see
// restoreTarget.
func (c *requestConn) beginHandler(r *http.Request) bool {
	c.handled.Store(true)
	if c.fast != nil {
		c.fast.unseen.Store(false)
	}
	if r.ProtoMajor == 1 {
		c.isPosted = r.Method == http.MethodPost
	}
	return c.restoreTarget(r)
}

// Read implements net.Conn.
func (c *requestConn) Read(p []byte) (int, error) {
	if c.handed != nil {
		return c.handed.read(c, p)
	}
	return c.readNext(p)
}

// readNext reads what has not been read.
func (c *requestConn) readNext(p []byte) (int, error) {
	if h := c.http2.Load(); h != nil {
		return h.dispatcher.read(p)
	}
	if c.isNew {
		if err := c.firstRead(p); err != nil {
			return 0, err
		}
	}
	isWaiting := c.isWaiting(p)
	if isWaiting && !c.hasWatched {
		c.counted().rest()
	}
	n, err := c.read(p)
	isFirst := isWaiting && (c.fast == nil || !c.fast.isAfter)
	if isFirst && err == nil {
		n, err = c.skipEmptyLine(p, n)
	}
	if isWaiting && n > 0 && !c.takesUp(n) {
		return 0, io.EOF
	}
	c.isLineStart = c.isLineStart || isFirst
	return c.cameIn(p, n, err)
}

// cameIn is called with n octets of p that were read, and returns how many of them are read as they are.
func (c *requestConn) cameIn(p []byte, n int, err error) (int, error) {
	if failed := c.look(p[:n]); failed != nil {
		return 0, failed
	}
	return c.withoutFrames(p, n, err)
}

// withoutFrames keeps what came with the first line of HTTP/2, which net/http then reads by the dispatcher.
func (c *requestConn) withoutFrames(p []byte, n int, err error) (int, error) {
	h := c.http2.Load()
	if h == nil {
		return n, err
	}
	_, rest, _ := bytes.Cut(p[:n], []byte("\n"))
	h.dispatcher.hold(rest)
	h.dispatcher.err = err
	return n - len(rest), nil
}

// read reads by whoever the octets are for.
func (c *requestConn) read(p []byte) (int, error) {
	switch {
	case c.isWatch(p):
		return c.watch(p)
	case c.hasWatched:
		p[0], c.hasWatched = c.watched, false
		return 1, nil
	case c.body.inBody.Load():
		return c.readBody(c.Conn, p)
	case c.fast != nil && !c.fast.isOut(p):
		return c.fast.read(p)
	default:
		return c.Conn.Read(p)
	}
}

// isRest reports whether what was read last came together with requests that were answered, as what net/http has in its buffer
// does: it is not looked at.
func (c *requestConn) isRest() bool { return c.fast != nil && c.fast.isRest }

// look looks at what was read by HTTP/1, or before it is known to be HTTP/2, whose frames it passes on then.
func (c *requestConn) look(p []byte) error {
	if len(p) == 0 || c.complete.Load() || c.isRest() {
		if c.head.active.Load() {
			c.head.scan(p)
		}
		return nil
	}
	rest := c.record(p)
	if h := c.http2.Load(); h != nil {
		return h.received(rest)
	}
	if begun := min(len(c.line), len(preface)); c.choseHTTP2() && string(c.line[:begun]) != preface[:begun] {
		return io.EOF // RFC 9113 section 3.4
	}
	return nil
}

// choseHTTP2 reports whether ALPN has chosen HTTP/2 for the connection, without which there is none by TLS: RFC 9113
// section 3.2. It is for behind the first Read.
func (c *requestConn) choseHTTP2() bool {
	secure, ok := c.Conn.(*secureConn)
	return ok && secure.isHTTP2
}

// record records what was read as a part of a request line, and returns what is behind its end.
func (c *requestConn) record(p []byte) (rest []byte) {
	line, rest, isEnd := bytes.Cut(p, []byte("\n"))
	const methodAndVersion = 64
	room := max(c.server.config.MaxTarget+methodAndVersion-len(c.line), 0)
	before := len(c.line)
	c.line = append(c.line, line[:min(room, len(line))]...)
	if len(line) <= room {
		c.replaceStray(line)
	}
	if before < len(preface) && bytes.HasPrefix(c.line, []byte(preface)) && !c.choseHTTP2() {
		p[len(preface)-1-before] = '1' // net/http refuses HTTP/2.1
	}
	if !isEnd {
		return nil
	}
	if c.choseHTTP2() && bytes.HasPrefix(c.line, []byte(preface)) {
		c.http2.Store(newHTTP2Conn(c))
	}
	c.head.begin(c.line)
	c.head.scan(rest)
	c.complete.Store(true)
	return rest
}

// preface is the first line of a connection by HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0"

// refusalFields is what net/http writes after the status line of a refusal; the body
// repeats the status.
const refusalFields = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn. While a handler runs, data is a response and is not
// changed: its body may look like a refusal on purpose.
func (c *requestConn) Write(p []byte) (int, error) {
	if c.endsEarly.Load() {
		return 0, net.ErrClosed
	}
	if h := c.http2.Load(); h != nil {
		return h.write(p)
	}
	if c.handled.Load() && c.reason.status != "" {
		return c.writeReason(p)
	}
	if c.handled.Load() {
		return c.Conn.Write(p)
	}
	m, ok := c.refusal(p)
	if !ok {
		return c.Conn.Write(p)
	}
	to := c.Conn
	if secure, ok := c.Conn.(*secureConn); ok {
		if to = secure.plain(); to == nil {
			return len(p), nil // the handshake failed: the client could not read it
		}
		m.PlainHTTP = to != c.Conn
	}
	d := c.server.config.Malformed(m)
	if _, err := to.Write(d.response(m.Method, "")); err != nil {
		return 0, err // of a connection that was closed in the middle of a request, which net/http takes for its end
	}
	if c.server.config.Refused != nil {
		c.server.config.Refused(d.Status)
	}
	return len(p), nil
}

// refusal returns what net/http refuses by a response, and false for another response. A body of which chunked is not the last
// coding has no end that is known: RFC 9112 section 6.3.
func (c *requestConn) refusal(response []byte) (m Malformed, ok bool) {
	head, body, ok := strings.Cut(string(response), refusalFields)
	m.Method, m.Target = requestLine(string(c.line))
	switch {
	case !ok:
		return m, false
	case head == "HTTP/1.1 501 Not Implemented" && body == "Unsupported transfer encoding":
		m.Status, m.Reason = http.StatusBadRequest, "chunked is not the only transfer coding"
		if c.head.isChunked {
			m.Status = http.StatusNotImplemented
		}
		return m, true
	case "HTTP/1.1 "+body != head:
		return m, false
	}
	code, _, _ := strings.Cut(body, " ")
	m.Status, _ = strconv.Atoi(code) // of net/http
	_, m.Reason, _ = strings.Cut(body, ": ")
	return m, true
}

// writeReason writes what may begin with the status whose words are set.
func (c *requestConn) writeReason(p []byte) (int, error) {
	changed, ok := c.reason.replace(p)
	if !ok {
		return c.Conn.Write(p)
	}
	c.reason = reasonPhrase{}
	n, err := c.Conn.Write(changed)
	return max(min(n-(len(changed)-len(p)), len(p)), 0), err
}

// Close implements net.Conn.
func (c *requestConn) Close() error {
	c.body.close()
	if c.endsEarly.Load() {
		c.linger()
	}
	if c.fast != nil {
		return c.fast.close()
	}
	return c.Conn.Close()
}

// CloseWrite lets net/http close the write direction, so that a client that is still
// sending can read the refusal.
func (c *requestConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// response returns the document as a complete response that ends its connection, with
// additional header fields.
func (d Document) response(method, fields string) []byte {
	response := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n",
		d.Status, http.StatusText(d.Status), d.ContentType, len(d.Body), fields)
	if method == http.MethodHead {
		return response
	}
	return append(response, d.Body...)
}

// requestLine returns the method and the target of a request line, or nothing
// where its start was not seen: pipelined requests come in one read.
func requestLine(line string) (method, target string) {
	method, rest, _ := strings.Cut(line, " ")
	if method == "" || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", ""
	}
	rest = strings.TrimRight(rest, "\r")
	if i := strings.LastIndex(rest, " HTTP/"); i >= 0 {
		rest = rest[:i]
	}
	return method, rest
}
