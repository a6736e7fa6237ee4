//go:build !linux

package listen

import (
	"errors"
	"net"
)

// directIO is for Linux alone.
type directIO struct{}

func newDirectIO(net.Conn) *directIO { return new(directIO) }

func (*directIO) canRead() bool { return false }

func (*directIO) readEach([]byte, func(int) bool) error { return errors.ErrUnsupported }

func (*directIO) try([]byte) int { return 0 }

// awaitReadable is for Linux alone.
func awaitReadable(net.Conn) error { return errors.ErrUnsupported }

// hasUnread is for Linux alone.
func hasUnread(net.Conn) bool { return false }

// peerState is for Linux alone.
func peerState(net.Conn) (halfClosed, left bool) { return false, false }
