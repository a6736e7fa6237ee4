package listen

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// tcpPair returns the two ends of a connection.
func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// A tunnel bypasses a connection, and reads from and writes to the socket, if data passes through unchanged.
func TestPassed(t *testing.T) {
	_, socket := tcpPair(t)
	client := &clientConn{Conn: socket}
	secure, proxied := tls.Server(client, new(tls.Config)), newProxied(client, time.Minute)
	for name, tt := range map[string]struct {
		conn          *Conn
		reads, writes bool
	}{
		"plain":              {&Conn{client: client, in: client, out: client}, true, true},
		"TLS":                {&Conn{client: client, tls: secure, in: secure, out: secure}, false, false},
		"the PROXY protocol": {&Conn{client: client, proxied: proxied, in: proxied, out: client}, false, true},
	} {
		var read, written net.Conn = tt.conn, tt.conn
		for read != nil && read != socket {
			next, ok := read.(interface{ ReadConn() net.Conn })
			if read = nil; ok {
				read = next.ReadConn()
			}
		}
		for written != nil && written != socket {
			next, ok := written.(interface{ WriteConn() net.Conn })
			if written = nil; ok {
				written = next.WriteConn()
			}
		}
		if (read != nil) != tt.reads || (written != nil) != tt.writes {
			t.Errorf("%s: it passes reads %t, writes %t", name, read != nil, written != nil)
		}
	}
	client.hasAhead = true
	if client.ReadConn() != nil {
		t.Error("a byte that was read ahead is lost")
	}
}

// Writes that bypass a connection have its deadline: a client must read a chunk within it.
func TestWriteBy(t *testing.T) {
	late := os.ErrDeadlineExceeded
	type step struct {
		n   int64
		err error
	}
	for name, tt := range map[string]struct {
		steps   []step
		written int64
		err     error
	}{
		"immediately":       {[]step{{5, nil}}, 5, nil},
		"slowly":            {[]step{{chunk, late}, {chunk + 1, late}, {3, nil}}, 2*chunk + 4, nil},
		"too slowly":        {[]step{{chunk, late}, {chunk - 1, late}}, 2*chunk - 1, late},
		"the client leaves": {[]step{{chunk, io.ErrClosedPipe}}, chunk, io.ErrClosedPipe},
	} {
		_, socket := tcpPair(t)
		deadlines, steps := 0, tt.steps
		c := &clientConn{Conn: socket, deadline: func() time.Time { deadlines++; return time.Now().Add(time.Minute) }}
		n, err := c.WithWriteDeadline(func() (int64, error) {
			s := steps[0]
			steps = steps[1:]
			return s.n, s.err
		})
		if n != tt.written || !errors.Is(err, tt.err) || len(steps) > 0 || deadlines != len(tt.steps) ||
			c.aborted.Load() != (tt.err != nil) {
			t.Errorf("%s: %d, %v, %d deadlines, aborted %t", name, n, err, deadlines, c.aborted.Load())
		}
	}
}

// A client that reads slowly gets several buffers completely, with as many deadlines as needed.
func TestWriteBuffersSlowly(t *testing.T) {
	client, socket := tcpPair(t)
	sent := bytes.Repeat([]byte("a part"), 1<<20)
	c := &clientConn{Conn: socket, deadline: func() time.Time { return time.Now().Add(time.Minute) }}
	go func() {
		_, _ = c.WriteBuffers(net.Buffers{sent[:5], sent[5 : 3<<20], sent[3<<20:]})
		_ = c.Close()
	}()
	if got, err := io.ReadAll(client); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes of %d, %v", len(got), len(sent), err)
	}
}
