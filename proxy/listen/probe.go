package listen

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
)

// probeRequest is the request of Probe. Protocols recognize it by Conn.IsProbe.
const probeRequest = "GET / HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n"

// Probe sends an HTTP/1.1 request to the server of the socket, like a client on a new connection, and waits
// for any response. Its connection has no TLS.
func (s *Socket) Probe(ctx context.Context) error {
	near, far := net.Pipe()
	defer near.Close()
	stop := context.AfterFunc(ctx, func() { _ = near.SetDeadline(distantPast()) })
	defer stop()
	select {
	case s.conns <- &clientConn{Conn: far, probe: true}:
	case <-s.done:
		_ = far.Close()
		return nil // the socket is closing
	case <-ctx.Done():
		_ = far.Close()
		return fmt.Errorf("no server accepts connections of %s: %w", s.Addr(), context.Cause(ctx))
	}
	if _, err := io.WriteString(near, probeRequest); err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	const longest = 64 << 10
	response, err := io.ReadAll(io.LimitReader(near, longest))
	if err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	if !strings.HasPrefix(string(response), "HTTP/1.1 ") {
		return fmt.Errorf("probing %s: unexpected response %.20q", s.Addr(), response)
	}
	return nil
}

// AnswerProbe reads the request of a probe, and responds when ready has returned.
func (c *Conn) AnswerProbe(ready func()) {
	if _, err := io.ReadFull(c, make([]byte, len(probeRequest))); err != nil || !c.SetServing() {
		return
	}
	ready()
	_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	_ = c.Close()
}
