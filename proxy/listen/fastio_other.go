//go:build !linux

package listen

import (
	"io"
	"net"
)

// fastIO is for Linux alone.
type fastIO struct{}

func newFastIO(net.Conn) *fastIO { return nil }

func (*fastIO) canRead() bool { return false }

func (*fastIO) read(*FastConn, []byte) (left int, err error) { return 0, net.ErrClosed }

func (*fastIO) try([]byte) int { return 0 }

// hasUnread is for Linux alone.
func hasUnread(net.Conn) bool { return false }

// awaitReset is for Linux alone.
func awaitReset(net.Conn) error { return io.EOF }

// lookAt is for Linux alone.
func lookAt(net.Conn) (hasEnded, hasLeft bool) { return false, false }
