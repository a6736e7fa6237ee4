//go:build linux

package tunnel

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// opened is a tunnel between TCP connections, represented by its outer ends.
type opened struct {
	client, server *net.TCPConn
	carried        chan int64
}

func (p *Tunnels) opened(t *testing.T) opened {
	t.Helper()
	client, near := pair(t)
	server, far := pair(t)
	o := opened{carried: make(chan int64, 1)}
	o.client, _ = client.(*net.TCPConn)
	o.server, _ = server.(*net.TCPConn)
	go func() { o.carried <- p.tunnel(t.Context(), sideOf(near), sideOf(far)) }()
	return o
}

// blocked writes until the writes block, and returns the data written.
func blocked(t *testing.T, to net.Conn) []byte {
	t.Helper()
	sent := make([]byte, 128<<20) // more than the socket buffers of both connections can hold
	_, _ = rand.NewChaCha8([32]byte{}).Read(sent)
	_ = to.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	n, err := to.Write(sent)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes were taken: %v", n, err)
	}
	return sent[:n]
}

// The kernel moves the data of a tunnel between sockets, in both directions concurrently, until both have
// ended. Data that waits for a slow reader is partly in a pipe; an idle tunnel has no pipe.
func TestSplicing(t *testing.T) {
	p := New(time.Hour, time.Now)
	o := p.opened(t)
	ways := [][2]*net.TCPConn{{o.client, o.server}, {o.server, o.client}}
	for i, way := range ways {
		sent := blocked(t, way[0])
		if n := p.pipes.inUse(); n != 1 {
			t.Errorf("%d pipes while a reader is slow", n)
		}
		if err := way[0].CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(way[1]); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
		}
		testserver.Wait(t, "no pipe is taken", func() bool { return p.pipes.inUse() == 0 })
		if i == 1 {
			if carried := <-o.carried; carried != int64(len(sent)) {
				t.Errorf("%d bytes were carried of %d", carried, len(sent))
			}
		}
	}
}

// If no pipe is available, as with many slow readers, data is copied.
func TestSplicingWithoutPipe(t *testing.T) {
	p := New(time.Hour, time.Now)
	p.pipes.taken = maxPipes
	o := p.opened(t)
	for _, way := range [][2]*net.TCPConn{{o.client, o.server}, {o.server, o.client}} {
		sent := blocked(t, way[0])
		_ = way[0].CloseWrite()
		if got, err := io.ReadAll(way[1]); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
		}
	}
	if <-o.carried; p.pipes.inUse() != maxPipes {
		t.Errorf("%d pipes are taken", p.pipes.inUse())
	}
}

// A pipe with data left when a tunnel ends is closed immediately, and not reused by another tunnel.
func TestSplicingThatEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	p := New(time.Hour, time.Now)
	before := pipesOfProcess(t)
	for range 10 {
		o := p.opened(t)
		blocked(t, o.server)
		_ = o.client.SetLinger(0)
		_ = o.client.Close()
		<-o.carried
		if p.pipes.inUse() != 0 || pipesOfProcess(t) > before+2 { // that of the other direction
			t.Fatalf("%d pipes are taken, there are %d, %d before", p.pipes.inUse(), pipesOfProcess(t), before)
		}
	}
}

// pipesOfProcess returns the number of pipe descriptors of this process.
func pipesOfProcess(t *testing.T) (count int) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, one := range all {
		if to, err := os.Readlink("/proc/self/fd/" + one.Name()); err == nil && strings.HasPrefix(to, "pipe:") {
			count++
		}
	}
	return count
}

// Idle tunnels hold no descriptors but their connections, also after they have carried much data.
func TestPipesOfIdleTunnels(t *testing.T) {
	p := New(time.Hour, time.Now)
	before := pipesOfProcess(t)
	sent, got := make([]byte, 100_000), make([]byte, 100_000)
	for range 50 {
		o := p.opened(t)
		for _, way := range [][2]net.Conn{{o.client, o.server}, {o.server, o.client}} {
			go func() { _, _ = way[0].Write(sent) }()
			if _, err := io.ReadFull(way[1], got); err != nil {
				t.Fatal(err)
			}
		}
	}
	testserver.Wait(t, "no pipe is taken", func() bool { return p.pipes.inUse() == 0 })
	if now := pipesOfProcess(t); now > before+2*maxFree {
		t.Errorf("%d descriptors of pipes, %d before", now, before)
	}
}

// A tunnel ends when neither direction has carried data during the idle timeout.
func TestIdleOfSplicing(t *testing.T) {
	const idle = 50 * time.Millisecond
	var now atomic.Int64
	p := New(idle, func() time.Time { return time.Unix(0, now.Load()) })
	o := p.opened(t)
	for range 5 {
		if _, err := o.server.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		if n, err := o.client.Read(make([]byte, 2)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		now.Add(int64(idle - time.Millisecond))
	}
	testserver.Wait(t, "the tunnel has ended", func() bool {
		now.Add(int64(idle))
		return len(o.carried) == 1
	})
	if n := <-o.carried; n != 5 {
		t.Errorf("%d bytes", n)
	}
}

// unpassed is a connection that does more than pass data through.
type unpassed struct{ *net.TCPConn }

func (unpassed) ReadConn() net.Conn { return nil }

func (unpassed) WriteConn() net.Conn { return nil }

// Only connections that declare to pass data through are bypassed.
func TestSockets(t *testing.T) {
	conn, _ := pair(t)
	tcp, _ := conn.(*net.TCPConn)
	bounded := &bounding{Conn: tcp}
	for name, tt := range map[string]struct {
		conn         any
		source, sink bool
	}{
		"TCP":           {tcp, true, true},
		"bounded":       {bounded, true, true},
		"TLS":           {tls.Client(tcp, &tls.Config{MinVersion: tls.VersionTLS13}), false, false},
		"not passed":    {unpassed{tcp}, false, false},
		"another shape": {struct{ net.Conn }{tcp}, false, false},
		"nothing":       {nil, false, false},
	} {
		if source := sourceOf(tt.conn); (source == tcp) != tt.source {
			t.Errorf("%s: it is read from %v", name, source)
		}
		to, ok := sinkOf(tt.conn)
		if ok != tt.sink || (to.socket == tcp) != tt.sink {
			t.Errorf("%s: it is written to %v", name, to.socket)
		}
		if ok {
			_, _ = to.bound(func() (int64, error) { return 1, nil })
		}
	}
	if bounded.times != 1 {
		t.Errorf("it was bounded %d times", bounded.times)
	}
}

type bounding struct {
	net.Conn
	times int
}

func (b *bounding) ReadConn() net.Conn { return b.Conn }

func (b *bounding) WriteConn() net.Conn { return b.Conn }

func (b *bounding) WithWriteDeadline(write func() (int64, error)) (int64, error) {
	b.times++
	return write()
}

func (p *pipes) inUse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
