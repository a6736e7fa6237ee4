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

// A connection that a handler has taken passes on what its socket has, and what is written to it, until there is something between them.
func TestPassed(t *testing.T) {
	_, socket := tcpPair(t)
	client := &clientConn{Conn: socket}
	for name, tt := range map[string]struct {
		conn          net.Conn
		change        func(*requestConn)
		reads, writes bool
	}{
		"taken":              {client, nil, true, true},
		"not taken":          {client, func(c *requestConn) { c.isTaken = false }, false, false},
		"an octet was read":  {client, func(c *requestConn) { c.hasWatched = true }, false, true},
		"octets were read":   {client, func(c *requestConn) { c.handed = new(handed) }, false, true},
		"words of a status":  {client, func(c *requestConn) { c.reason.status = "200" }, true, false},
		"it ends early":      {client, func(c *requestConn) { c.endsEarly.Store(true) }, true, false},
		"TLS":                {&secureConn{Conn: tls.Server(client, new(tls.Config)), raw: client}, nil, false, false},
		"the PROXY protocol": {proxyConn{below: client}, nil, false, true},
	} {
		c := &requestConn{Conn: tt.conn, isTaken: true}
		c.handled.Store(true)
		if tt.change != nil {
			tt.change(c)
		}
		var read, written net.Conn = c, c
		for read != nil && read != socket {
			next, ok := read.(interface{ ReadsFrom() net.Conn })
			if read = nil; ok {
				read = next.ReadsFrom()
			}
		}
		for written != nil && written != socket {
			next, ok := written.(interface{ WritesTo() net.Conn })
			if written = nil; ok {
				written = next.WritesTo()
			}
		}
		if (read != nil) != tt.reads || (written != nil) != tt.writes {
			t.Errorf("%s: it passes reads %t, writes %t", name, read != nil, written != nil)
		}
	}
}

// What is written past a connection has its deadline: a client must read a chunk within it.
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
		"at once":           {[]step{{5, nil}}, 5, nil},
		"slowly":            {[]step{{chunk, late}, {chunk + 1, late}, {3, nil}}, 2*chunk + 4, nil},
		"too slowly":        {[]step{{chunk, late}, {chunk - 1, late}}, 2*chunk - 1, late},
		"the client leaves": {[]step{{chunk, io.ErrClosedPipe}}, chunk, io.ErrClosedPipe},
	} {
		_, socket := tcpPair(t)
		deadlines, steps := 0, tt.steps
		c := &clientConn{Conn: socket, deadline: func() time.Time { deadlines++; return time.Now().Add(time.Minute) }}
		n, err := c.WriteBy(func() (int64, error) {
			s := steps[0]
			steps = steps[1:]
			return s.n, s.err
		})
		if n != tt.written || !errors.Is(err, tt.err) || len(steps) > 0 || deadlines != len(tt.steps) || c.aborted.Load() != (tt.err != nil) {
			t.Errorf("%s: %d, %v, %d deadlines, aborted %t", name, n, err, deadlines, c.aborted.Load())
		}
	}
}

// A client that reads slowly gets several buffers whole, in as many deadlines as that takes.
func TestWriteBuffersSlowly(t *testing.T) {
	client, socket := tcpPair(t)
	sent := bytes.Repeat([]byte("octets"), 1<<20)
	c := &clientConn{Conn: socket, deadline: func() time.Time { return time.Now().Add(time.Minute) }}
	go func() {
		_, _ = c.WriteBuffers(net.Buffers{sent[:5], sent[5 : 3<<20], sent[3<<20:]})
		_ = c.Close()
	}()
	if got, err := io.ReadAll(client); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d octets of %d, %v", len(got), len(sent), err)
	}
}
