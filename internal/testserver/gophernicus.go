package testserver

import (
	"net"
	"net/netip"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// Gophernicus is a gopher server: a program that answers one request by its standard input and output, for
// each connection.
type Gophernicus struct {
	t        testing.TB
	path     string
	args     []string
	listener *net.TCPListener
	done     sync.WaitGroup
}

// StartGophernicus serves the files of a folder that every user can enter (OpenFolder) by gophernicus. It
// ends with the test.
func StartGophernicus(t testing.TB, dir string) *Gophernicus {
	t.Helper()
	path := Need(t, "gophernicus")
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	g := &Gophernicus{t: t, path: path, listener: listener}
	g.args = []string{
		"-r", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(int(g.addr().Port())),
		"-nf", "-ns", "-nm", "-nu", "-nv", "-np", // no footer, log, shared memory, users, virtual hosts, PROXY protocol
	}
	g.done.Go(g.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		g.done.Wait()
	})
	return g
}

// Addr returns where it listens, as "127.0.0.1:port".
func (g *Gophernicus) Addr() string { return g.addr().String() }

func (g *Gophernicus) addr() netip.AddrPort { return g.listener.Addr().(*net.TCPAddr).AddrPort() }

func (g *Gophernicus) accept() {
	for {
		conn, err := g.listener.AcceptTCP()
		if err != nil {
			return // it is closed
		}
		g.done.Go(func() { g.answer(conn) })
	}
}

// answer runs the program for a connection.
func (g *Gophernicus) answer(conn *net.TCPConn) {
	file, err := conn.File()
	_ = conn.Close() // the file has it
	if err != nil {
		g.t.Error(err)
		return
	}
	defer file.Close()
	cmd := exec.Command(g.path, g.args...)
	cmd.Stdin, cmd.Stdout = file, file
	if err := asNobody(cmd); err != nil {
		g.t.Error(err)
		return
	}
	_ = cmd.Run() // it exits with a status for each kind of answer
}
