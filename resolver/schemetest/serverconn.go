package schemetest

import (
	"bytes"
	"io"
	"net"
	"time"
)

// serverConn is a server connection whose writes fail as the server's failingWrites says.
type serverConn struct {
	net.Conn
	server *server
}

// Write implements net.Conn.
func (c *serverConn) Write(p []byte) (int, error) {
	s := c.server
	written := 0
	for written < len(p) {
		some := p[written:]
		n := s.take(len(some))
		if n == 0 {
			return written, c.fail()
		}
		some = some[:n]
		if s.failure.kind == failureChanged {
			some = s.change(some)
		}
		n, err := c.Conn.Write(some)
		written += n
		if err != nil {
			return written, err
		}
		if s.failure.kind == failureTrickle {
			c.wait()
		}
	}
	return written, nil
}

// Close implements net.Conn.
func (c *serverConn) Close() error {
	c.server.mu.Lock()
	delete(c.server.conns, c.Conn)
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// take returns the number of bytes, of n, that may be written before the failure; 0 starts the failure.
func (s *server) take(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.failure.kind {
	case failureBytes, failureTrickle:
		n = 1
	case failureSilent, failureClose, failureReset, failureEndless:
		n = int(min(int64(n), s.failure.after-s.written))
	default:
	}
	s.written += int64(n)
	return n
}

// fail performs the failure. It returns when the connection is closed.
func (c *serverConn) fail() error {
	c.server.reach()
	switch c.server.failure.kind {
	case failureSilent:
		_, _ = io.Copy(io.Discard, c.Conn)
	case failureEndless:
		letters := bytes.Repeat([]byte("a"), 4<<10)
		for {
			if _, err := c.Conn.Write(letters); err != nil {
				break
			}
		}
	default:
		c.server.shutAll()
	}
	return errFailure
}

// change returns a copy of p with some random bytes.
func (s *server) change(p []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := bytes.Clone(p)
	for range 1 + len(p)/32 {
		if s.random.IntN(2) == 0 {
			changed[s.random.IntN(len(changed))] = s.randomByte()
		}
	}
	return changed
}

// wait waits before the next byte.
func (c *serverConn) wait() {
	timer := time.NewTimer(trickleDelay)
	defer timer.Stop()
	<-timer.C
}
