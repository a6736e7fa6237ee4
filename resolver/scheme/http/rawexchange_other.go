//go:build !unix

package http

import "net"

// talk is not available on this system.
type talk struct{}

func newTalk(net.Conn) *talk { return nil }

func (*talk) exchange(_, _ []byte) (written, n int, err error) { return 0, 0, nil }
