package main

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/config"
)

// fixedOrigin is an HTTP/1.1 server that answers each request with the same bytes, without allocating.
func fixedOrigin(tb testing.TB, response string) (address string) {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	tb.Cleanup(running.Wait)
	tb.Cleanup(func() { listener.Close() })
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { answerFixed(conn, []byte(response)) })
		}
	})
	return listener.Addr().String()
}

// answerFixed answers each request header.
func answerFixed(conn net.Conn, response []byte) {
	defer conn.Close()
	request, read := make([]byte, 4<<10), 0
	for {
		n, err := conn.Read(request[read:])
		if err != nil {
			return
		}
		if read += n; !bytes.HasSuffix(request[:read], []byte("\r\n\r\n")) {
			continue
		}
		read = 0
		if _, err := conn.Write(response); err != nil {
			return
		}
	}
}

// rawClient is a connection to a daemon whose requests do not allocate on the client side.
type rawClient struct {
	net.Conn
	request, response []byte
	// the digits of the request that are incremented, so that each request is different; nil for none
	counter []byte
	end     []byte // of a response
}

// newRawClient returns a connection to a daemon with a configuration, for a request whose zeros are
// incremented, and for responses that end with end.
func newRawClient(tb testing.TB, request, end string) *rawClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	local := netip.MustParsePrefix("127.0.0.0/8")
	c.Access.AllowDestinations, c.Access.ProxyClients = []netip.Prefix{local}, []netip.Prefix{local}
	conn := dialServer(tb, c).Conn
	client := &rawClient{Conn: conn, request: []byte(request), response: make([]byte, 64<<10), end: []byte(end)}
	if at := strings.Index(request, "00000000"); at >= 0 {
		client.counter = client.request[at : at+8]
	}
	return client
}

// exchange sends the request, and returns the response.
func (c *rawClient) exchange(tb testing.TB) []byte {
	tb.Helper()
	for i := len(c.counter) - 1; i >= 0; i-- {
		if c.counter[i]++; c.counter[i] <= '9' {
			break
		}
		c.counter[i] = '0'
	}
	if _, err := c.Write(c.request); err != nil {
		tb.Fatal(err)
	}
	read := 0
	for !bytes.HasSuffix(c.response[:read], c.end) {
		more, err := c.Read(c.response[read:])
		if err != nil {
			tb.Fatal(err)
		}
		read += more
	}
	return c.response[:read]
}

// uncached returns a client whose requests are cache misses, as in the benchmark against other proxies:
// responses with no-store, or another URL each time.
func uncached(tb testing.TB, name string) *rawClient {
	tb.Helper()
	body := strings.Repeat("a", 1<<10-1) + "\n"
	path, control := "/a", "no-store"
	if name == "miss" {
		path, control = "/00000000", "max-age=3600\r\nETag: \"1\""
	}
	origin := fixedOrigin(tb,
		"HTTP/1.1 200 OK\r\nDate: Mon, 23 Nov 2026 20:00:00 GMT\r\nServer: fixed\r\nContent-Type: text/plain\r\n"+
			"Content-Length: 1024\r\nConnection: keep-alive\r\nCache-Control: "+control+"\r\n\r\n"+body)
	client := newRawClient(tb,
		"GET http://"+origin+path+" HTTP/1.1\r\nHost: "+origin+"\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n", body)
	for range 100 { // the first ones fill pools
		if response := client.exchange(tb); !bytes.HasPrefix(response, []byte("HTTP/1.1 200 OK\r\n")) ||
			!bytes.Contains(response, []byte("fwd=uri-miss")) {
			tb.Fatalf("%q", response)
		}
	}
	return client
}

// The allocations of a cache miss are limited, from socket to socket.
func TestUncachedAllocatesLittle(t *testing.T) {
	for _, tt := range []struct {
		name string
		most float64
	}{{"no-store", 6}, {"miss", 20}} {
		client := uncached(t, tt.name)
		if raceDetector { // a sync.Pool drops some items on purpose
			tt.most += 16
		}
		if n := testing.AllocsPerRun(2000, func() { client.exchange(t) }); n > tt.most {
			t.Errorf("%s: %v allocations, at most %v", tt.name, n, tt.most)
		}
	}
}

// BenchmarkUncached measures cache misses on one connection, with client, daemon and origin in this process.
func BenchmarkUncached(b *testing.B) {
	for _, name := range []string{"no-store", "miss"} {
		b.Run(name, func(b *testing.B) {
			client := uncached(b, name)
			b.ReportAllocs()
			for b.Loop() {
				client.exchange(b)
			}
		})
	}
}
