package proxy

import (
	"bytes"
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

// watch returns listener with watched connections, for a server that has state
// as its ConnState.
func watch(listener net.Listener, maxTarget int) net.Listener {
	return watchedListener{listener, maxTarget}
}

type watchedListener struct {
	net.Listener
	maxTarget int
}

func (l watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // net/http looks at its type
	}
	return &watchedConn{Conn: conn, maxTarget: l.maxTarget}, nil
}

// watchedConn keeps the request line that was read last.
type watchedConn struct {
	net.Conn
	maxTarget int
	line      []byte
	whole     atomic.Bool // the end of the line was seen
}

// state marks where the next request line begins: a connection is idle when
// its last request was answered.
func state(conn net.Conn, s http.ConnState) {
	if c, ok := conn.(*watchedConn); ok && s == http.StateIdle {
		c.line = c.line[:0]
		c.whole.Store(false)
	}
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.whole.Load() {
		c.keep(p[:n])
	}
	return n, err //nolint:wrapcheck // net/http looks at its type
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

// refusalFields is what net/http writes behind the status line of a refusal,
// and nothing else does: a response of a handler has a Date.
const refusalFields = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

func (c *watchedConn) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 4")) {
		return c.Conn.Write(p) //nolint:wrapcheck // net/http looks at its type
	}
	head, body, ok := bytes.Cut(p, []byte(refusalFields))
	if !ok || !bytes.HasSuffix(head, body) {
		return c.Conn.Write(p) //nolint:wrapcheck // net/http looks at its type
	}
	if _, err := c.Conn.Write(c.refusal(string(body))); err != nil {
		return 0, err //nolint:wrapcheck // net/http looks at its type
	}
	return len(p), nil
}

// CloseWrite lets net/http wait until a client that is still sending has read
// the refusal.
func (c *watchedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // net/http ignores it
	}
	return nil
}

// refusal returns the whole response in the place of net/http's own.
func (c *watchedConn) refusal(status string) []byte {
	method, rest, _ := strings.Cut(string(c.line), " ")
	target, _, _ := strings.Cut(strings.TrimRight(rest, "\r"), " ")
	p := newProblem(refused(status, target, c.maxTarget), "")
	body := marshal(p)
	response := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		p.Status, p.Title, len(body))
	if method == http.MethodHead {
		return response
	}
	return append(response, body...)
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
