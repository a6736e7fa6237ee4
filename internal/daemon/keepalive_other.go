//go:build !linux

package daemon

import "net"

// listenConfig returns how listeners are opened.
func listenConfig() net.ListenConfig { return net.ListenConfig{} }
