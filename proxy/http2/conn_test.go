package http2_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/proxy/http2"
)

// stub implements the needed part of listen.Conn, over any connection.
type stub struct {
	net.Conn
	ctx       context.Context
	leave     context.CancelFunc
	onDrain   func()
	evicted   atomic.Bool
	idle      atomic.Bool
	tunnels   atomic.Bool
	waits     atomic.Int64
	awaited   atomic.Int64 // number of waits without a buffer
	peeked    []byte
	resume    func(error)
	onAwait   func() // called at the start of Await; nil for no call
	suspended atomic.Int64
}

func newStub(conn net.Conn) *stub {
	s := &stub{Conn: conn}
	s.ctx, s.leave = context.WithCancel(context.Background())
	return s
}

func (*stub) Secure() bool           { return true }
func (*stub) ServerName() string     { return "server.example" }
func (s *stub) SetServing() bool     { s.idle.Store(false); return !s.evicted.Load() }
func (s *stub) SetIdle()             { s.idle.Store(true) }
func (s *stub) SetTunnels(only bool) { s.tunnels.Store(only) }
func (s *stub) OnDrain(f func())     { s.onDrain = f }

func (s *stub) BeginWait() context.Context { s.waits.Add(1); return s.ctx }
func (s *stub) EndWait()                   { s.waits.Add(-1) }
func (s *stub) Linger() error              { return s.Close() }

// HalfClosed returns the context of BeginWait, by which tests recognize it.
func (s *stub) HalfClosed() context.Context { return s.ctx }

func (s *stub) Suspend(by time.Time, resume func(error)) {
	_ = s.SetReadDeadline(by)
	s.resume = resume
}

// serve serves until the connection ends, like a worker of package listen.
func (s *stub) serve(server *http2.Server) {
	server.Serve(s)
	for s.resume != nil {
		resume := s.resume
		s.resume = nil
		s.suspended.Add(1)
		resume(s.Await())
	}
}

func (s *stub) drain() {
	s.onDrain()
}

func (s *stub) evict() {
	s.evicted.Store(true)
	_ = s.Conn.SetReadDeadline(time.Unix(1, 0))
}

// SetReadDeadline does not let an evicted connection wait.
func (s *stub) SetReadDeadline(t time.Time) error {
	err := s.Conn.SetReadDeadline(t)
	if s.evicted.Load() {
		err = s.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	return err
}

func (s *stub) Await() error {
	s.awaited.Add(1)
	if s.onAwait != nil {
		s.onAwait()
	}
	var b [1]byte
	n, err := s.Conn.Read(b[:])
	s.peeked = append(s.peeked, b[:n]...)
	return err
}

func (s *stub) Read(p []byte) (int, error) {
	if len(s.peeked) > 0 {
		n := copy(p, s.peeked)
		s.peeked = s.peeked[n:]
		return n, nil
	}
	return s.Conn.Read(p)
}

// memory is one direction of an in-memory connection.
type memory struct {
	mu       sync.Mutex
	changed  sync.Cond
	bytes    []byte
	size     int // the capacity; 0 for no limit
	err      error
	deadline time.Time
	timer    *time.Timer
	writes   int
}

func newMemory() *memory {
	m := &memory{}
	m.changed.L = &m.mu
	return m
}

func (m *memory) read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		switch {
		case !m.deadline.IsZero() && !time.Now().Before(m.deadline):
			return 0, os.ErrDeadlineExceeded
		case len(m.bytes) > 0:
			n := copy(p, m.bytes)
			m.bytes = m.bytes[n:]
			m.changed.Broadcast()
			return n, nil
		case m.err != nil:
			return 0, m.err
		}
		m.changed.Wait()
	}
}

func (m *memory) write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.size > 0 && len(m.bytes) >= m.size && m.err == nil {
		m.changed.Wait()
	}
	if m.err != nil {
		return 0, net.ErrClosed
	}
	m.writes++
	m.bytes = append(m.bytes, p...)
	m.changed.Broadcast()
	return len(p), nil
}

func (m *memory) resize(size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size = size
}

func (m *memory) close(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
	m.changed.Broadcast()
}

func (m *memory) setDeadline(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deadline = t; m.timer != nil {
		m.timer.Stop()
	}
	if !t.IsZero() {
		m.timer = time.AfterFunc(time.Until(t), m.changed.Broadcast)
	}
	m.changed.Broadcast()
}

// pipe is an end of an in-memory connection.
type pipe struct{ in, out *memory }

func newPipe() (client, server *pipe) {
	up, down := newMemory(), newMemory()
	return &pipe{down, up}, &pipe{up, down}
}

var errGone = errors.New("the peer has left")

func (p *pipe) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.write(b) }
func (p *pipe) Close() error {
	p.in.close(net.ErrClosed)
	p.out.close(io.EOF)
	p.in.setDeadline(time.Time{})
	return nil
}

// CloseWrite ends this side, like a FIN.
func (p *pipe) CloseWrite() error { p.out.close(io.EOF); return nil }

// reset ends both sides, like a RST.
func (p *pipe) reset() { p.out.close(errGone); p.in.close(errGone) }

func (*pipe) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

func (*pipe) RemoteAddr() net.Addr                 { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 50000} }
func (p *pipe) SetDeadline(t time.Time) error      { p.in.setDeadline(t); return nil }
func (p *pipe) SetReadDeadline(t time.Time) error  { p.in.setDeadline(t); return nil }
func (p *pipe) SetWriteDeadline(t time.Time) error { return nil }
