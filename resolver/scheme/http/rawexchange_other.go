//go:build !unix

package http

import "net"

// rawExchanger is not available on this system.
type rawExchanger struct{}

func newRawExchanger(net.Conn) *rawExchanger { return nil }

func (*rawExchanger) exchange(_, _ []byte) (written, n int, err error) { return 0, 0, nil }
