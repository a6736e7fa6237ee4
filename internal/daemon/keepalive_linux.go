package daemon

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listenConfig returns the configuration of listeners. TCP connections get the keep-alive probes that the
// standard library configures, but inherit them from the listener (tcp(7)): setting them for each connection
// takes four system calls.
func listenConfig() net.ListenConfig {
	return net.ListenConfig{KeepAlive: -1, Control: func(network, _ string, socket syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return nil
		}
		var failed error
		if err := socket.Control(func(fd uintptr) { failed = probe(int(fd)) }); err != nil {
			return fmt.Errorf("opening a socket: %w", err)
		}
		return failed
	}}
}

// Defaults of the standard library.
const (
	probeAfter = 15 * time.Second // idle time and interval
	probes     = 9
)

// probe enables keep-alive probes.
func probe(fd int) error {
	for _, option := range []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(probeAfter / time.Second)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, int(probeAfter / time.Second)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, probes},
	} {
		if err := unix.SetsockoptInt(fd, option.level, option.name, option.value); err != nil {
			return fmt.Errorf("setting keep-alive probes: %w", err)
		}
	}
	return nil
}
