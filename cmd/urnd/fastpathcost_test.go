package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/listen"
)

// fastClient is a connection to a server with the fast path, whose requests allocate nothing on its own side.
type fastClient struct {
	net.Conn
	request, response []byte
}

// newFastClient returns a connection for a request, which has been answered: its response is cached.
func newFastClient(tb testing.TB, target string) *fastClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	client := dialFastServer(tb, c)
	client.request = []byte("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n")
	for range 8 { // the first ones fill the cache, and make what is used again
		if !client.ask(tb) {
			tb.Fatalf("%q", client.response[:200])
		}
	}
	return client
}

// dialFastServer returns a connection to a server with a configuration, whose request is to be set.
func dialFastServer(tb testing.TB, c config.Config) *fastClient {
	tb.Helper()
	p, err := wireAll(c, newDependencies())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.close)
	p.openRegistry(tb.Context(), io.Discard)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- listen.NewServer(listen.ServerConfig{
			Handler: p.service, FastPath: p.service.Fast(), Now: time.Now, Log: slog.New(slog.DiscardHandler), MaxTarget: 4096, MaxHeader: 4096,
			HeaderTimeout: time.Minute, IdleTimeout: time.Minute, ShutdownTimeout: time.Minute,
			Malformed: func(listen.Malformed) listen.Document { return listen.Document{} },
		}).Serve(ctx, listener)
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		conn.Close()
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return &fastClient{Conn: conn, response: make([]byte, 64<<10)}
}

// ask sends the request, and reports whether the response is a redirect.
func (c *fastClient) ask(tb testing.TB) bool {
	tb.Helper()
	return c.send(tb, c.request)
}

// send sends a request, and reports whether the response is a redirect.
func (c *fastClient) send(tb testing.TB, request []byte) bool {
	tb.Helper()
	if _, err := c.Write(request); err != nil {
		tb.Fatal(err)
	}
	read := 0
	for !bytes.HasSuffix(c.response[:read], []byte("</a>.\n")) {
		more, err := c.Read(c.response[read:])
		if err != nil {
			tb.Fatal(err)
		}
		read += more
	}
	return bytes.HasPrefix(c.response, []byte("HTTP/1.1 30"))
}

// A request that the fast path answers makes no allocation, however it is spelled.
func TestFastPathAllocatesNothing(t *testing.T) {
	limit := 0.0
	if raceDetector { // a sync.Pool loses some of what it has, on purpose
		limit = 16
	}
	for _, target := range []string{"/urn:ietf:rfc:2648", "/URN:ISBN:0-395-36341-1", "/uri-res/N2L?urn:ietf:rfc:2648", "urn:ietf:rfc:2648"} {
		client := newFastClient(t, target)
		if n := testing.AllocsPerRun(2000, func() { client.ask(t) }); n > limit {
			t.Errorf("%s: %v allocations", target, n)
		}
	}
}

// BenchmarkFastPath is the time of a cached redirect on one connection, with both of its sides in this process.
func BenchmarkFastPath(b *testing.B) {
	for _, bm := range []struct{ name, target string }{
		{"canonical", "/urn:ietf:rfc:2648"},
		{"to-be-normalized", "/URN:ISBN:0-395-36341-1"},
		{"THTTP", "/uri-res/N2L?urn:ietf:rfc:2648"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			client := newFastClient(b, bm.target)
			b.ReportAllocs()
			for b.Loop() {
				client.ask(b)
			}
		})
	}
}
