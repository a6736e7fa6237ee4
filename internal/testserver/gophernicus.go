package testserver

import (
	"net/netip"
	"strconv"
	"testing"
)

// Gophernicus is a gopher server: a program that handles one request by standard input and output, for each
// connection.
type Gophernicus struct{ addr netip.AddrPort }

// StartGophernicus serves the files of a folder accessible to every user (OpenFolder) with gophernicus. It ends
// with the test.
func StartGophernicus(t testing.TB, dir string) *Gophernicus {
	t.Helper()
	return &Gophernicus{startInetd(t, Need(t, "gophernicus"), func(addr netip.AddrPort) []string {
		return []string{
			"-r", dir, "-h", "127.0.0.1", "-p", strconv.Itoa(int(addr.Port())),
			// Disables footer, log, shared memory, users, virtual hosts, PROXY protocol.
			"-nf", "-ns", "-nm", "-nu", "-nv", "-np",
		}
	})}
}

// Addr returns the listening address as "127.0.0.1:port".
func (g *Gophernicus) Addr() string { return g.addr.String() }
