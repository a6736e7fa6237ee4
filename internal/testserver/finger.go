package testserver

import (
	"net"
	"net/netip"
	"os/exec"
	"sync"
	"testing"
)

// StartFinger starts a server of finger, which runs in.fingerd for each connection as inetd does. It stops at the
// end of the test.
func StartFinger(t testing.TB) netip.AddrPort {
	t.Helper()
	Need(t, "finger") // it asks that program
	path := Need(t, "in.fingerd")
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatalf("testserver: %v", err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			running.Go(func() { serveFinger(t, path, conn) })
		}
	})
	return listener.Addr().(*net.TCPAddr).AddrPort()
}

func serveFinger(t testing.TB, path string, conn *net.TCPConn) {
	defer conn.Close()
	socket, err := conn.File()
	if err != nil {
		t.Errorf("testserver: %v", err)
		return
	}
	defer socket.Close()
	cmd := exec.Command(path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, socket
	if err := cmd.Run(); err != nil {
		t.Logf("in.fingerd: %v", err) // also where the client has gone
	}
}
