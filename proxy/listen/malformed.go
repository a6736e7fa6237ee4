package listen

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// net/http answers a request that it cannot parse itself, with a bare "400 Bad Request" or
// "431", before any handler. Users must learn which octet of their URN is wrong, so the
// request line is recorded while it is read, and the response of net/http is recognised by
// its text and replaced. Only this file depends on that text.

// Malformed is a request that net/http refused.
type Malformed struct {
	Status int    // of the response of net/http: 431 where the header is larger than MaxHeader
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

	head     head
	body     bodyReads
	line     []byte       // the last request line, or its beginning
	complete atomic.Bool  // the end of the line was seen
	handled  atomic.Bool  // the request has reached a handler
	used     atomic.Bool  // some request of the connection has reached a handler
	isPosted bool         // the last one was a POST
	http2    atomic.Bool  // it has no request lines
	reason   reasonPhrase // see SetReason
	attached io.Closer    // see Attach; nil for none
}

// enter is called when net/http gives the connection a state.
func (c *requestConn) enter(state http.ConnState) {
	switch state {
	case http.StateIdle:
		c.begin()
	case http.StateHijacked:
		c.body.inBody.Store(false)
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
	if c.http2.Load() { // it is read while it is idle
		return
	}
	c.line = c.line[:0]
	c.reason = reasonPhrase{}
	c.head.reset()
	c.body.inBody.Store(false)
	c.complete.Store(false)
	c.handled.Store(false)
	if c.fast != nil {
		c.fast.idle(c.isPosted)
	}
}

// beginHandler is called when a request has reached its handler.
func (c *requestConn) beginHandler() {
	c.handled.Store(true)
	if c.fast != nil {
		c.fast.unseen.Store(false)
	}
}

// Read implements net.Conn.
func (c *requestConn) Read(p []byte) (int, error) {
	var n int
	var err error
	switch {
	case c.body.inBody.Load():
		n, err = c.readBody(c.Conn, p)
	case c.fast != nil && !c.fast.isOut(p):
		n, err = c.fast.read(p)
	default:
		n, err = c.Conn.Read(p)
	}
	if n > 0 && !c.complete.Load() && (c.fast == nil || !c.fast.isRest) {
		c.record(p[:n])
	} else if c.head.active.Load() {
		c.head.scan(p[:n])
	}
	return n, err
}

func (c *requestConn) record(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		rest := p[i+1:]
		p = p[:i]
		defer func() {
			c.http2.Store(bytes.HasPrefix(c.line, []byte(preface)))
			c.head.begin(c.line)
			c.head.scan(rest)
			c.complete.Store(true)
		}()
	}
	const methodAndVersion = 64
	room := max(c.server.config.MaxTarget+methodAndVersion-len(c.line), 0)
	c.line = append(c.line, p[:min(room, len(p))]...)
}

// preface is the first line of a connection by HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0"

// refusalFields is what net/http writes after the status line of a refusal; the body
// repeats the status.
const refusalFields = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn. While a handler runs, data is a response and is not
// changed: its body may look like a refusal on purpose.
func (c *requestConn) Write(p []byte) (int, error) {
	if c.handled.Load() && c.reason.status != "" {
		return c.writeReason(p)
	}
	if c.handled.Load() || c.http2.Load() {
		return c.Conn.Write(p)
	}
	head, body, ok := bytes.Cut(p, []byte(refusalFields))
	if !ok || "HTTP/1.1 "+string(body) != string(head) {
		return c.Conn.Write(p)
	}
	method, target := requestLine(string(c.line))
	m := Malformed{Status: http.StatusBadRequest, Method: method, Target: target}
	if bytes.HasPrefix(body, []byte("431")) {
		m.Status = http.StatusRequestHeaderFieldsTooLarge
	}
	_, m.Reason, _ = strings.Cut(string(body), ": ")
	to := c.Conn
	if secure, ok := c.Conn.(*secureConn); ok {
		if to = secure.plain(); to == nil {
			return len(p), nil // the handshake failed: the client could not read it
		}
		m.PlainHTTP = to != c.Conn
	}
	if _, err := to.Write(c.server.refusal(m)); err != nil {
		return 0, err
	}
	return len(p), nil
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

// refusal returns the complete response that replaces that of net/http.
func (s *Server) refusal(m Malformed) []byte {
	d := s.config.Malformed(m)
	if s.config.Refused != nil {
		s.config.Refused(d.Status)
	}
	return d.response(m.Method, "")
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
