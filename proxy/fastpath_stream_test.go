package proxy_test

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// stream is one direction of a connection in memory. It holds all that is written: the tests of the fast path know by
// synctest.Wait when everything that was sent has been read and answered, which no socket tells.
type stream struct {
	mu       sync.Mutex
	changed  *sync.Cond
	octets   []byte
	taken    int  // octets that were read
	ended    bool // nothing more is written
	deaf     bool // nothing more is read
	cut      bool // see streamConn.Close
	deadline time.Time
	timer    *time.Timer
}

func newStream() *stream {
	s := new(stream)
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.changed.Broadcast()
}

// late reports whether the deadline has passed; s.mu is held.
func (s *stream) late() bool { return !s.deadline.IsZero() && !time.Now().Before(s.deadline) }

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.deaf:
			return 0, &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}
		case s.late():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(s.octets) > 0:
			n := copy(p, s.octets)
			s.octets = s.octets[n:]
			s.taken += n
			return n, nil
		case s.cut:
			return 0, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
		case s.ended:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return 0, net.ErrClosed
	case s.deaf:
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	s.octets = append(s.octets, p...)
	s.changed.Broadcast()
	return len(p), nil
}

// count returns how many octets were read.
func (s *stream) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// setDeadline sets the deadline of reads.
func (s *stream) setDeadline(t time.Time) {
	s.change(func() {
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
		s.deadline = t
		if left := time.Until(t); !t.IsZero() && left > 0 {
			s.timer = time.AfterFunc(left, func() { s.change(func() {}) })
		}
	})
}

// streamConn is an end of a connection in memory.
type streamConn struct {
	in, out       *stream
	local, remote net.Addr
	closed        chan struct{} // by this end
	close         func()

	mu            sync.Mutex
	writeDeadline time.Time
}

// newStreamConns returns both ends of a connection.
func newStreamConns(client, server net.Addr) (atClient, atServer *streamConn) {
	there, back := newStream(), newStream()
	return newStreamConn(back, there, client, server), newStreamConn(there, back, server, client)
}

func newStreamConn(in, out *stream, local, remote net.Addr) *streamConn {
	c := &streamConn{in: in, out: out, local: local, remote: remote, closed: make(chan struct{})}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	return c
}

func (c *streamConn) Read(p []byte) (int, error) { return c.in.read(p) }

func (c *streamConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	late := !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline)
	c.mu.Unlock()
	if late {
		return 0, os.ErrDeadlineExceeded
	}
	return c.out.write(p)
}

func (c *streamConn) CloseWrite() error {
	c.out.change(func() { c.out.ended = true })
	return nil
}

// Close closes the connection. As by TCP the peer sees a reset where octets were not read.
func (c *streamConn) Close() error {
	unread := false
	c.in.setDeadline(time.Time{})
	c.in.change(func() {
		unread = len(c.in.octets) > 0 && !c.in.deaf
		c.in.deaf = true
	})
	c.out.change(func() {
		c.out.ended = true
		c.out.cut = c.out.cut || unread
	})
	c.close()
	return nil
}

func (c *streamConn) LocalAddr() net.Addr  { return c.local }
func (c *streamConn) RemoteAddr() net.Addr { return c.remote }

func (c *streamConn) SetDeadline(t time.Time) error {
	_ = c.SetWriteDeadline(t)
	return c.SetReadDeadline(t)
}

func (c *streamConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

func (c *streamConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeDeadline = t
	return nil
}

// streamListener accepts connections in memory.
type streamListener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
	addr   net.Addr
}

func newStreamListener(addr net.Addr) *streamListener {
	l := &streamListener{conns: make(chan net.Conn), closed: make(chan struct{}), addr: addr}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

func (l *streamListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *streamListener) Close() error {
	l.close()
	return nil
}

func (l *streamListener) Addr() net.Addr { return l.addr }
