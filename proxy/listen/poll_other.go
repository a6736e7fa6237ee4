//go:build !linux

package listen

import (
	"errors"
	"net"
)

// directIO is only implemented on Linux.
type directIO struct{}

func newDirectIO(net.Conn) *directIO { return new(directIO) }

func (*directIO) canRead() bool { return false }

func (*directIO) readEach([]byte, func(int) bool) error { return errors.ErrUnsupported }

func (*directIO) try([]byte) int { return 0 }

func (*directIO) queued() int64 { return 0 }

// awaitReadable is only implemented on Linux.
func awaitReadable(net.Conn) error { return errors.ErrUnsupported }

// hasUnread is only implemented on Linux.
func hasUnread(net.Conn) bool { return false }

// peerState is only implemented on Linux.
func peerState(net.Conn) (halfClosed, left bool) { return false, false }
