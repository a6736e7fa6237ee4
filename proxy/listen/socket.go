package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Socket accepts the connections of one address, for servers that come one after
// another: when a server ends, no connection is lost.
type Socket struct {
	listener net.Listener
	gate     *Gate
	refused  func()      // a client has too many connections
	failed   func(error) // nothing can be accepted
	until    func() time.Time
	plain    bool // what is refused is told why

	conns   chan net.Conn
	done    chan struct{} // closed when no more is to be accepted
	stopped chan struct{} // closed when nothing is accepted any more
	once    sync.Once

	abandoned chan struct{} // closed when there is no server any more
	abandon   func()
}

// SocketConfig says how connections are accepted.
type SocketConfig struct {
	Gate *Gate // nil: all are
	// Refused is called where a client has too many connections; nil is not.
	Refused func()
	// Failed is called where nothing can be accepted, once a second at most for long;
	// nil is not.
	Failed func(error)
	// WriteUntil returns until when a client must have taken the next piece of what is
	// sent; nil waits for it without end.
	WriteUntil func() time.Time
	// Plain tells such a client why, by HTTP; over TLS it could not read that.
	Plain bool
}

// NewSocket begins to accept connections of listener. Close it.
func NewSocket(listener net.Listener, config SocketConfig) *Socket {
	s := &Socket{
		listener: listener, gate: config.Gate, refused: config.Refused, failed: config.Failed, plain: config.Plain, until: config.WriteUntil,
		conns: make(chan net.Conn), done: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.abandoned = make(chan struct{})
	s.abandon = sync.OnceFunc(func() { close(s.abandoned) })
	go s.run()
	return s
}

// Addr returns the address that is listened on.
func (s *Socket) Addr() net.Addr { return s.listener.Addr() }

// run accepts until Drain. What it holds then still gets a server.
func (s *Socket) run() {
	defer close(s.stopped)
	pause := newPause()
	defer pause.stop()
	for {
		if s.gate != nil {
			s.gate.wait(s.done)
		}
		conn, err := s.listener.Accept()
		select {
		case <-s.done:
			if err != nil {
				return
			}
		default:
		}
		if err != nil {
			// Out of descriptors, or a client that is gone already: it passes.
			if s.failed != nil {
				s.failed(err)
			}
			if errors.Is(err, net.ErrClosed) || !pause.wait(s.done) {
				return
			}
			continue
		}
		pause.reset()
		if conn = s.admit(conn); conn != nil {
			select {
			case s.conns <- conn:
			case <-s.abandoned:
				_ = conn.Close()
			}
		}
	}
}

// admit counts a connection, and returns nil where its client has too many.
func (s *Socket) admit(conn net.Conn) net.Conn {
	if s.gate == nil {
		return &gatedConn{Conn: conn, leave: func() {}, until: s.until}
	}
	client := addrOf(conn.RemoteAddr().String())
	if s.gate.enter(client) {
		return &gatedConn{Conn: conn, leave: sync.OnceFunc(func() { s.gate.leave(client) }), until: s.until}
	}
	if s.refused != nil {
		s.refused()
	}
	if s.plain {
		_, _ = io.WriteString(conn, tooManyConnections()) // it fits the buffer of a fresh socket
	}
	_ = conn.Close()
	return nil
}

func tooManyConnections() string {
	body := marshal(newProblem(errConnections, ""))
	return fmt.Sprintf("HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// Drain stops to accept, and returns when all connections that came have a server. The
// address is free then, but for who else holds it: connections that wait in the queue of
// a socket of systemd stay there, for who comes next.
func (s *Socket) Drain() {
	s.once.Do(func() {
		close(s.done)
		if deadliner, ok := s.listener.(interface{ SetDeadline(time.Time) error }); ok {
			_ = deadliner.SetDeadline(time.Unix(1, 0)) // wakes Accept
		} else {
			_ = s.listener.Close()
		}
	})
	<-s.stopped
	_ = s.listener.Close() // Close says what comes of it
}

// Close ends the socket. Call Drain before, while there is a server.
func (s *Socket) Close() error {
	s.abandon()
	s.Drain()
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing %s: %w", s.listener.Addr(), err)
	}
	return nil
}

// Listen returns a listener for one server; to close it does not close the socket.
func (s *Socket) Listen() net.Listener {
	return &share{Socket: s, closed: make(chan struct{})}
}

type share struct {
	*Socket
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener.
func (l *share) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *share) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// pause waits longer from failure to failure.
type pause struct {
	timer *time.Timer
	next  time.Duration
}

const shortestPause, longestPause = 5 * time.Millisecond, time.Second

func newPause() *pause {
	p := &pause{timer: time.NewTimer(time.Hour)}
	p.reset()
	return p
}

func (p *pause) reset() { p.next = shortestPause }

func (p *pause) stop() { p.timer.Stop() }

// wait reports whether it waited to the end.
func (p *pause) wait(done <-chan struct{}) bool {
	p.timer.Reset(p.next)
	p.next = min(2*p.next, longestPause)
	select {
	case <-p.timer.C:
		return true
	case <-done:
		return false
	}
}
