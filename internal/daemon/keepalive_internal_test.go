//go:build linux

package daemon

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKeepAliveIsInherited checks that accepted connections have the keep-alive options of the standard
// library.
func TestKeepAliveIsInherited(t *testing.T) {
	var standard net.ListenConfig
	own := listenConfig()
	if got, want := probesOf(t, own), probesOf(t, standard); got != want {
		t.Errorf("%v, not %v", got, want)
	}
}

// probesOf returns the keep-alive options of an accepted connection.
func probesOf(t *testing.T, config net.ListenConfig) (options [4]int) {
	t.Helper()
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tcp, _ := conn.(*net.TCPConn)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for i, option := range [][2]int{
			{unix.SOL_SOCKET, unix.SO_KEEPALIVE},
			{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE},
			{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL},
			{unix.IPPROTO_TCP, unix.TCP_KEEPCNT},
		} {
			if options[i], err = unix.GetsockoptInt(int(fd), option[0], option[1]); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return options
}
