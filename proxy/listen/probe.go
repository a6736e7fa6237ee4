package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// probeAddr is the address of the peer of a net.Pipe; no client has it.
const probeAddr = "pipe"

// Probe sends a request to the server of the socket, as a connection that was just
// accepted does, and waits for any answer.
func (s *Socket) Probe(ctx context.Context) error {
	here, there := net.Pipe()
	defer here.Close()
	stop := context.AfterFunc(ctx, func() { _ = here.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	select {
	case s.conns <- there:
	case <-s.done:
		_ = there.Close()
		return nil // it is to end
	case <-ctx.Done():
		_ = there.Close()
		return fmt.Errorf("no server takes connections of %s: %w", s.Addr(), context.Cause(ctx))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://probe/", nil)
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	request.Close = true
	if err := request.Write(here); err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	response, err := http.ReadResponse(bufio.NewReader(here), request)
	if err != nil {
		return fmt.Errorf("probing %s: %w", s.Addr(), err)
	}
	return response.Body.Close()
}
