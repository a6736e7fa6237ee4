package netguard

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Socket returns a dial function that connects to one Unix socket, whatever address it is asked for: it
// has the rights of a file, and no name leads to it.
func Socket(timeout time.Duration, path string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: timeout}
		conn, err := dialer.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, fmt.Errorf("connecting to the socket %s: %w", path, err)
		}
		return conn, nil
	}
}
