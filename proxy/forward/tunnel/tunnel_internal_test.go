package tunnel

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

func pair(t testing.TB) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// An idle tunnel holds no large buffers, also after it has carried much data.
func TestMemoryOfIdleTunnels(t *testing.T) {
	const tunnels, most = 2000, 12 << 10
	p := New(time.Hour, time.Now)
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	sent, got := bytes.Repeat([]byte("octets"), 10_000), make([]byte, 60_000)
	before := testserver.HeapInUse()
	for range tunnels {
		client, near := net.Pipe()
		server, far := net.Pipe()
		all.Go(func() { p.tunnel(ctx, sideOf(near), sideOf(far)) })
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			all.Go(func() { _, _ = way[0].Write(sent) })
			if _, err := io.ReadFull(way[1], got); err != nil || !bytes.Equal(got, sent) {
				t.Fatal("the received bytes are not the sent ones", err)
			}
		}
	}
	each := (testserver.HeapInUse() - before) / tunnels
	t.Logf("%d bytes each", each)
	if each > most {
		t.Errorf("%d bytes for each idle tunnel, want at most %d", each, most)
	}
}

// BenchmarkTunnel carries 64 KiB in one direction, over loopback.
func BenchmarkTunnel(b *testing.B) {
	client, near := pair(b)
	server, far := pair(b)
	p := New(time.Minute, time.Now)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.tunnel(context.Background(), sideOf(near), sideOf(far))
	}()
	go func() {
		buf := make([]byte, 64<<10)
		for range b.N {
			if _, err := server.Write(buf); err != nil {
				return
			}
		}
		server.Close()
	}()
	b.SetBytes(64 << 10)
	b.ResetTimer()
	if _, err := io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{client}); err != nil {
		b.Fatal(err)
	}
	client.Close()
	<-ended
}
