package testserver

import (
	"net/netip"
	"strconv"
	"testing"
)

// Gophernicus is a gopher server: a program that answers one request by its standard input and output, for
// each connection.
type Gophernicus struct{ addr netip.AddrPort }

// StartGophernicus serves the files of a folder that every user can enter (OpenFolder) by gophernicus. It
// ends with the test.
func StartGophernicus(t testing.TB, dir string) *Gophernicus {
	t.Helper()
	return &Gophernicus{startInetd(t, Need(t, "gophernicus"), func(addr netip.AddrPort) []string {
		return []string{
			"-r", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(int(addr.Port())),
			"-nf", "-ns", "-nm", "-nu", "-nv", "-np", // no footer, log, shared memory, users, virtual hosts, PROXY protocol
		}
	})}
}

// Addr returns where it listens, as "127.0.0.1:port".
func (g *Gophernicus) Addr() string { return g.addr.String() }
