//go:build !unix

package http

import "net"

// probe cannot inspect the socket on this system: a closed idle connection is detected only by sending on it.
type probe struct{}

func newProbe(net.Conn) probe { return probe{} }

func (probe) isSilent() bool { return true }
