//go:build e2e

package machines

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// busyClients are clients that send requests sequentially on a connection, which they only close when asked. A
// request without a response is lost; nothing is retried.
type busyClients struct {
	ended    atomic.Bool
	answered atomic.Int64
	lost     atomic.Int64 // on a connection with earlier responses
	refused  atomic.Int64 // on a new connection
	running  sync.WaitGroup
}

func startBusyClients(n int, address string) *busyClients {
	b := &busyClients{}
	for range n {
		b.running.Go(func() {
			for !b.ended.Load() {
				b.useConnection(address)
			}
		})
	}
	return b
}

// useConnection sends requests until the connection is to be closed.
func (b *busyClients) useConnection(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.refused.Add(1)
		return
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	failures := &b.refused
	for !b.ended.Load() {
		if _, err := fmt.Fprint(conn, "GET /urn:book:1 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			failures.Add(1)
			return
		}
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != http.StatusFound {
			failures.Add(1)
			return
		}
		failures = &b.lost
		_, _ = reader.Discard(int(response.ContentLength))
		if b.answered.Add(1); response.Close {
			return
		}
	}
}

// TestRestartLosesNothing checks that a restart by the service manager, which holds the sockets, loses no
// request of busy clients.
func TestRestartLosesNothing(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	const clients, restarts = 64, 20
	var busy *busyClients
	for restart := range restarts + 1 {
		l := newFileDaemon(t)
		l.serveOn(t, socket, "http")
		if busy == nil {
			busy = startBusyClients(clients, listener.Addr().String())
		}
		l.ready(t)
		before := busy.answered.Load()
		testserver.Wait(t, "requests are answered", func() bool { return busy.answered.Load() > before+1000 })
		if restart == restarts {
			busy.ended.Store(true)
			busy.running.Wait()
		}
		l.stop(t)
	}
	if lost := busy.lost.Load() + busy.refused.Load(); lost > 0 {
		t.Errorf("%d of %d requests were lost", lost, busy.answered.Load()+lost)
	}
}

// TestStopLosesNothing checks that without a successor no request of an accepted connection is lost: clients
// are asked to close before their connections are closed.
func TestStopLosesNothing(t *testing.T) {
	t.Parallel()
	for range 5 {
		l := start(t, "listen: {service: '127.0.0.1:0', admin: ''}")
		address := l.url[len("http://"):]
		busy := startBusyClients(64, address)
		testserver.Wait(t, "requests are answered", func() bool { return busy.answered.Load() > 1000 })
		l.stop(t)
		busy.ended.Store(true)
		busy.running.Wait()
		if lost := busy.lost.Load(); lost > 0 {
			t.Errorf("%d of %d requests were lost", lost, busy.answered.Load()+lost)
		}
	}
}
