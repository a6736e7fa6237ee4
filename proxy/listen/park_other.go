//go:build !linux

package listen

import "net"

// canAwait is for Linux alone.
func canAwait(net.Conn) bool { return false }

// awaitOctets is for Linux alone.
func awaitOctets(net.Conn) error { return net.ErrClosed }
