package netguard_test

import (
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// fullListener returns a loopback address at which connections to a port time out, since the backlog of its
// listener is full.
func fullListener(t *testing.T, port string) string {
	t.Helper()
	const address = "127.0.0.3"
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "listener")
	t.Cleanup(func() { file.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: number, Addr: [4]byte{127, 0, 0, 3}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	for range 10 { // until the backlog is full
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, port), 100*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Skip("this kernel accepts connections beyond the backlog")
	return ""
}
