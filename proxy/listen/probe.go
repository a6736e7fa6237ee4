package listen

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// probeConn is the server's end of the connection of a probe.
type probeConn struct {
	net.Conn
}

// isProbe reports whether a connection is that of a probe.
func isProbe(conn net.Conn) bool {
	_, ok := conn.(probeConn)
	return ok
}

// Probe sends a request to the server of the socket, like a client on a new connection, and
// waits for any response of ServerConfig.Probe. It does not work with TLS.
func (s *Socket) Probe(ctx context.Context) error {
	near, far := net.Pipe()
	defer near.Close()
	stop := context.AfterFunc(ctx, func() { _ = near.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	select {
	case s.conns <- probeConn{far}:
	case <-s.done:
		_ = far.Close()
		return nil // the socket is closing
	case <-ctx.Done():
		_ = far.Close()
		return fmt.Errorf("no server accepts connections of %s: %w", s.Addr(), context.Cause(ctx))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://probe/", nil)
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	request.Close = true
	if err := request.Write(near); err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	response, err := http.ReadResponse(bufio.NewReader(near), request)
	if err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	return response.Body.Close()
}
