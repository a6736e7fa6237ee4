package listen

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
)

// net/http answers a request that it cannot read by itself, with a bare "400
// Bad Request" or "431": the handler never sees it. Our users must learn which
// octet of their URN is wrong, so the request line that is being read is noted, and what
// net/http writes in its place is recognised by its text and put into our words. This
// file is the only one that knows that text.

// Malformed is a request that net/http refused, as far as it was read.
type Malformed struct {
	Status string // the words of its status line, such as "400 Bad Request: malformed Host header"
	Method string // "" where the beginning of the request line was not seen
	Target string // likewise
	// PlainHTTP is that it was sent to a port that speaks TLS.
	PlainHTTP bool
}

// Document is what a client is answered in the place of net/http's words.
type Document struct {
	Status      int
	ContentType string
	Body        []byte
}

// requestConn is a connection whose request line is noted while it is read. It passes
// errors on as they are: net/http looks at their types.
type requestConn struct {
	net.Conn
	server *Server

	line    []byte      // the request line that was read last
	whole   atomic.Bool // the end of the line was seen
	handled atomic.Bool // a handler has taken over, since the line began
	used    atomic.Bool // a request of it has come to a handler
	http2   atomic.Bool // it has no request lines
}

// begin marks where the next request line begins: a connection is idle when its last
// request was answered.
func (c *requestConn) begin() {
	if c.http2.Load() { // it is read while it is idle
		return
	}
	c.line = c.line[:0]
	c.whole.Store(false)
	c.handled.Store(false)
}

// Read implements net.Conn.
func (c *requestConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.whole.Load() {
		c.note(p[:n])
	}
	return n, err
}

func (c *requestConn) note(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		p = p[:i]
		defer func() {
			c.http2.Store(bytes.HasPrefix(c.line, []byte(preface)))
			c.whole.Store(true)
		}()
	}
	const methodAndVersion = 64
	room := max(c.server.config.MaxTarget+methodAndVersion-len(c.line), 0)
	c.line = append(c.line, p[:min(room, len(p))]...)
}

// preface is the first line of a connection by HTTP/2: RFC 9113 section 3.4.
const preface = "PRI * HTTP/2.0"

// refusalFields is what net/http writes behind the status line of a refusal;
// the body is the status again.
const refusalFields = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write implements net.Conn. What is written while a handler runs is a response, and is
// left alone: a body may look like a refusal, and be meant to.
func (c *requestConn) Write(p []byte) (int, error) {
	if c.handled.Load() || c.http2.Load() {
		return c.Conn.Write(p)
	}
	head, body, ok := bytes.Cut(p, []byte(refusalFields))
	if !ok || "HTTP/1.1 "+string(body) != string(head) {
		return c.Conn.Write(p)
	}
	method, target := requestLine(string(c.line))
	m := Malformed{Status: string(body), Method: method, Target: target}
	to := c.Conn
	if secure, ok := c.Conn.(*secureConn); ok {
		if to = secure.plain(); to == nil {
			return len(p), nil // the handshake failed, and there is nobody to tell
		}
		m.PlainHTTP = to != c.Conn
	}
	if _, err := to.Write(c.server.refusal(m)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http wait until a client that is still sending has read
// the refusal.
func (c *requestConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal returns the whole response in the place of net/http's own.
func (s *Server) refusal(m Malformed) []byte {
	d := s.config.Malformed(m)
	if s.config.Refused != nil {
		s.config.Refused(d.Status)
	}
	return d.response(m.Method, "")
}

// response returns the document as a whole response that ends its connection, with
// further fields.
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
