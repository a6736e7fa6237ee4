//go:build !linux

package daemon

import "net"

// listenConfig returns the configuration of listeners.
func listenConfig() net.ListenConfig { return net.ListenConfig{} }
