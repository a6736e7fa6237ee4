package netguard

import (
	"context"
	"net"
)

// Listens reports whether a process listens on a Unix socket.
func Listens(ctx context.Context, path string) bool {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
