//go:build e2e

package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/urnd/urnd/config"
)

// openIdle opens connections and sends a request on each.
func openIdle(t *testing.T, address string, connections int) {
	t.Helper()
	const dialers = 16
	all := make([]net.Conn, connections)
	var dialing sync.WaitGroup
	for first := range dialers {
		dialing.Go(func() {
			for i := first; i < connections; i += dialers {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = conn
				_, _ = io.WriteString(conn, bookRequest)
				response, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
				if err != nil || response.StatusCode != http.StatusFound {
					t.Errorf("connection %d: %+v, %v", i, response, err)
					return
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil {
					t.Error(err)
				}
			}
		})
	}
	dialing.Wait()
	t.Cleanup(func() {
		for _, conn := range all {
			if conn != nil {
				conn.Close()
			}
		}
	})
}

// TestIdleConnections checks that each of 10,000 idle connections after a request costs a goroutine and its
// buffers.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	connections := 10_000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	highest := uint64(limit.Max)                                   //nolint:unconvert // int64 on FreeBSD
	if spare := uint64(500); highest < uint64(connections)+spare { // reserved for other open files
		connections = int(max(highest, 2*spare) - spare)
	}
	skipWithRace(t)
	d := startBooks(t, func(c *config.Config) { c.Limits.Connections, c.Limits.ClientConnections = 2*connections, 0 })
	d.Get(t, "/urn:book:1")
	goroutines := func() int { return int(scraped(t, d, "go_goroutines")) }
	before, resident := goroutines(), residentKiB(t, d.Process.Pid)
	openIdle(t, at(d.URL), connections)
	more, grown := goroutines()-before, residentKiB(t, d.Process.Pid)-resident
	if more > connections+100 || grown > 40*connections {
		t.Errorf("%d connections take %d goroutines and %d KiB", connections, more, grown)
	}
	t.Logf("%d idle connections: %d goroutines, %d MiB resident, %.1f KiB each", connections, more, grown/1024,
		float64(grown)/float64(connections))
}
