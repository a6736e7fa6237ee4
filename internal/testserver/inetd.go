package testserver

import (
	"context"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"sync"
	"testing"
)

// inetd runs a program for each connection, which becomes its standard input and output.
type inetd struct {
	t        testing.TB
	ctx      context.Context //nolint:containedctx // of the programs; ends with the test
	path     string
	args     []string
	listener *net.TCPListener
	running  sync.WaitGroup
}

// startInetd starts an inetd for a program. arguments returns its arguments for the listening address. It ends
// with the test, even if a client has left its connection open.
func startInetd(t testing.TB, path string, arguments func(netip.AddrPort) []string) netip.AddrPort {
	t.Helper()
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatalf("testserver: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background()) // that of the test has ended when cleanup begins
	addr := listener.Addr().(*net.TCPAddr).AddrPort()
	d := &inetd{t: t, ctx: ctx, path: path, args: arguments(addr), listener: listener}
	d.running.Go(d.accept)
	t.Cleanup(func() {
		_ = listener.Close() // fails only if it is closed
		cancel()
		d.running.Wait()
	})
	return addr
}

func (d *inetd) accept() {
	for {
		conn, err := d.listener.AcceptTCP()
		if err != nil {
			return // it is closed
		}
		d.running.Go(func() { d.answer(conn) })
	}
}

// answer runs the program for a connection.
func (d *inetd) answer(conn *net.TCPConn) {
	file, err := conn.File()
	_ = conn.Close() // duplicated in file
	if err != nil {
		d.t.Error(err)
		return
	}
	defer file.Close()
	cmd := exec.CommandContext(d.ctx, d.path, d.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, file
	if err := asNobody(cmd); err != nil {
		d.t.Error(err)
		return
	}
	dieWithParent(cmd)
	runtime.LockOSThread() // as in process.run
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		if d.ctx.Err() == nil {
			d.t.Error(err)
		}
		return
	}
	_ = cmd.Wait() // the status depends on the response, and on disconnected clients
}
