//go:build e2e

package gateways

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// startNews starts a news server without groups that counts its connections.
func startNews(t *testing.T) (address string, accepted *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = new(atomic.Int64)
	var running sync.WaitGroup
	t.Cleanup(func() { listener.Close(); running.Wait() })
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			running.Go(func() { serveNews(conn) })
		}
	})
	return listener.Addr().String(), accepted
}

func serveNews(conn net.Conn) {
	defer conn.Close()
	fmt.Fprint(conn, "200 hello\r\n")
	for lines := bufio.NewScanner(conn); lines.Scan() && lines.Text() != "QUIT"; {
		word, _, _ := strings.Cut(lines.Text(), " ")
		reported := map[string]string{"GROUP": "211 0 0 0 g", "DATE": "111 20261123120000"}[word]
		if reported == "" {
			reported = "500 what?"
		}
		fmt.Fprint(conn, reported+"\r\n")
	}
}

// TestIdleConnectionsOfGateways checks that idle connections of a gateway are reused, and never occupy all of
// limits.outgoing.
func TestIdleConnectionsOfGateways(t *testing.T) {
	t.Parallel()
	type server struct {
		address  string
		accepted *atomic.Int64
	}
	for outgoing, used := range map[int]int64{4: 2, 64: 1} { // number of connections to each server for two requests
		var servers []server // closed after the daemon
		for range 6 {
			address, accepted := startNews(t)
			servers = append(servers, server{address, accepted})
		}
		d := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.Limits.Outgoing, c.Limits.Streams = outgoing, 1
			c.Gateways.Timeout = 5 * time.Second
		})
		for _, s := range servers {
			for _, group := range []string{"g", "h"} {
				if got := d.Exchange(t, "GET nntp://"+s.address+"/"+group); got.Status != 200 {
					t.Errorf("limits.outgoing %d: %d", outgoing, got.Status)
				}
			}
			if got := s.accepted.Load(); got != used {
				t.Errorf("limits.outgoing %d: %d connections of a server, want %d", outgoing, got, used)
			}
		}
	}
}
