package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/uri"
)

// net/http answers a request that it cannot read by itself, with a bare "400
// Bad Request" or "431": the handler never sees it. Our users must learn which
// octet of their URN is wrong, so connections are watched: the request line
// that is being read is kept, and a refusal of net/http is put into words.

// watch returns listener with watched connections. The server that accepts them
// has state, mark and a handler wrapped by handling.
func watch(listener net.Listener, maxTarget int, refused func(status int)) net.Listener {
	return watchedListener{listener, maxTarget, refused}
}

type watchedKey struct{}

// mark lets handling find the connection of a request.
func mark(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, watchedKey{}, conn)
}

// handling notes that a connection is in the hands of a handler. What is
// written from then on is a response, and is left alone: a body may look like a
// refusal, and be meant to.
func handling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(watchedKey{}).(*watchedConn); ok {
			c.handled.Store(true)
		}
		next.ServeHTTP(w, r)
	})
}

type watchedListener struct {
	net.Listener
	maxTarget int
	refused   func(status int) // nil tells nobody
}

func (l watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: conn, maxTarget: l.maxTarget, refused: l.refused}, nil
}

// watchedConn keeps the request line that was read last. It passes errors on as
// they are: net/http looks at their types.
type watchedConn struct {
	net.Conn
	maxTarget int
	refused   func(status int)
	line      []byte
	whole     atomic.Bool // the end of the line was seen
	handled   atomic.Bool // a handler has taken over, since the line began
	arrived   atomic.Bool // some request of it has come to a handler
}

// state marks where the next request line begins: a connection is idle when
// its last request was answered.
func state(conn net.Conn, s http.ConnState) {
	if c, ok := conn.(*watchedConn); ok && s == http.StateIdle {
		c.line = c.line[:0]
		c.whole.Store(false)
		c.handled.Store(false)
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.whole.Load() {
		c.keep(p[:n])
	}
	return n, err
}

func (c *watchedConn) keep(p []byte) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		p = p[:i]
		defer c.whole.Store(true)
	}
	const around = 64 // method and version
	room := max(c.maxTarget+around-len(c.line), 0)
	c.line = append(c.line, p[:min(room, len(p))]...)
}

// refusalFields is what net/http writes behind the status line of a refusal;
// the body is the status again.
const refusalFields = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c *watchedConn) Write(p []byte) (int, error) {
	if c.handled.Load() {
		return c.Conn.Write(p)
	}
	head, body, ok := bytes.Cut(p, []byte(refusalFields))
	if !ok || "HTTP/1.1 "+string(body) != string(head) {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.refusal(string(body))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http wait until a client that is still sending has read
// the refusal.
func (c *watchedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusal returns the whole response in the place of net/http's own.
func (c *watchedConn) refusal(status string) []byte {
	method, target := requestLine(string(c.line))
	p := newProblem(refused(status, target, c.maxTarget), "")
	body := marshal(p)
	if c.refused != nil {
		c.refused(p.Status)
	}
	response := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		p.Status, p.Title, len(body))
	if method == http.MethodHead {
		return response
	}
	return append(response, body...)
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

// refused finds the reason for which net/http refused a request.
func refused(status, target string, maxTarget int) error {
	switch {
	case len(target) > maxTarget:
		return errTargetTooLong
	case strings.HasPrefix(status, "431"):
		return errHeaderTooLarge
	}
	var parse *uri.ParseError
	if _, err := parseTarget(target); target != "" && errors.As(err, &parse) {
		return parse
	}
	if _, reason, ok := strings.Cut(status, ": "); ok {
		return fmt.Errorf("%w: %s", errMalformed, reason)
	}
	return errMalformed
}
