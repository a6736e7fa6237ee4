package http1_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream is one direction of an in-memory connection. It must be made by newStream.
type stream struct {
	mu       sync.Mutex
	changed  *sync.Cond
	data     []byte
	ended    bool // no data follows
	broken   bool // by a reset, or a close by the reader
	deadline time.Time
	timer    *time.Timer
	writes   int
	most     int // the size of the first read; 0 for no limit
}

func newStream() *stream {
	s := new(stream)
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, os.ErrDeadlineExceeded
		case s.broken:
			return 0, net.ErrClosed
		case len(s.data) > 0 && p == nil: // only wait for data
			return 0, nil
		case len(s.data) > 0:
			if s.most > 0 { // the first part
				p, s.most = p[:min(len(p), s.most)], s.most-min(len(p), s.most)
			}
			n := copy(p, s.data)
			s.data = s.data[n:]
			return n, nil
		case s.ended:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken || s.ended {
		return 0, io.ErrClosedPipe
	}
	s.data = append(s.data, p...)
	s.writes++
	s.changed.Broadcast()
	return len(p), nil
}

func (s *stream) set(change func(*stream)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
	s.changed.Broadcast()
}

func (s *stream) setDeadline(t time.Time) {
	s.set(func(s *stream) {
		if s.timer != nil {
			s.timer.Stop()
		}
		if s.deadline = t; !t.IsZero() {
			s.timer = time.AfterFunc(time.Until(t), func() { s.set(func(*stream) {}) })
		}
	})
}

// end is an end of an in-memory connection, with the methods of package listen.
type end struct {
	in, out *stream

	ctx      context.Context
	cancel   context.CancelFunc
	half     context.Context
	halfEnd  context.CancelFunc
	each     bool // it supports ReadEach
	secure   bool
	draining func() bool

	mu          sync.Mutex
	serving     bool
	closed      bool
	lingered    bool
	released    bool
	aborted     bool
	dismissed   bool
	waits       int
	suspendedBy time.Time
	resume      func(error)
}

// newPipe returns both ends of a connection.
func newPipe() (server, client *end) {
	a, b := newStream(), newStream()
	server, client = &end{in: a, out: b}, &end{in: b, out: a}
	server.ctx, server.cancel = context.WithCancel(context.Background())
	server.half, server.halfEnd = context.WithCancel(context.Background())
	server.draining = func() bool { return false }
	return server, client
}

type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

func (e *end) RemoteAddr() net.Addr                { return address("192.0.2.1:1") }
func (e *end) LocalAddr() net.Addr                 { return address("192.0.2.2:80") }
func (e *end) Read(p []byte) (int, error)          { return e.in.read(p) }
func (e *end) Write(p []byte) (int, error)         { return e.out.write(p) }
func (e *end) SetWriteDeadline(time.Time) error    { return nil }
func (e *end) SetDeadline(t time.Time) error       { return e.SetReadDeadline(t) }
func (e *end) Secure() bool                        { return e.secure }
func (e *end) ServerName() string                  { return "" }
func (e *end) Proxied() bool                       { return false }
func (e *end) Draining() bool                      { return e.draining() }
func (e *end) HalfClosed() context.Context         { return e.half }
func (e *end) CanReadEach() bool                   { return e.each }
func (e *end) Suspend(by time.Time, f func(error)) { e.suspendedBy, e.resume = by, f }
func (e *end) Release()                            { e.released = true }
func (e *end) CloseWrite() error                   { e.out.set(func(s *stream) { s.ended = true }); return nil }
func (e *end) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{e}, r) }

func (e *end) WriteBuffers(buffers net.Buffers) (n int64, err error) {
	var all []byte
	for _, b := range buffers {
		all = append(all, b...)
	}
	written, err := e.Write(all)
	return int64(written), err
}

func (e *end) SetServing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serving = !e.closed && !e.dismissed
	return e.serving
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return net.ErrClosed
	}
	e.in.setDeadline(t)
	return nil
}

func (e *end) SetIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.serving = false
}

func (e *end) BeginWait() context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits++
	return e.ctx
}

func (e *end) EndWait() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits--
}

func (e *end) ReadEach(p []byte, received func(n int) bool) error {
	for {
		n, err := e.Read(p)
		if err != nil {
			return err
		}
		if !received(n) {
			return nil
		}
	}
}

func (e *end) Abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.aborted = true
	e.out.set(func(s *stream) { s.broken, s.data = true, nil })
}

func (e *end) Linger() error {
	_ = e.CloseWrite()
	e.lingered = true
	_ = e.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{e})
	return e.Close()
}

func (e *end) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return net.ErrClosed
	}
	e.closed = true
	e.out.set(func(s *stream) { s.ended = true })
	e.in.set(func(s *stream) { s.broken = true })
	e.in.setDeadline(time.Time{})
	if e.cancel != nil {
		e.cancel()
	}
	return nil
}

// await waits like package listen does for a parked connection.
func (e *end) await() error {
	_ = e.SetReadDeadline(e.suspendedBy)
	_, err := e.in.read(nil)
	if errors.Is(err, io.EOF) {
		return nil // the next read returns it
	}
	return err
}
