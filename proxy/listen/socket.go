package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Socket accepts the connections of one address for a sequence of servers: no connection is lost when a
// server is replaced.
type Socket struct {
	listener net.Listener
	config   SocketConfig

	conns   chan net.Conn
	done    chan struct{} // closed to stop accepting
	stopped chan struct{} // closed when accepting has stopped
	once    sync.Once

	abandoned chan struct{} // closed when no server is left
	abandon   func()
}

// SocketConfig configures a Socket. The zero value accepts all connections.
type SocketConfig struct {
	Limit *ConnectionLimit // nil for no limit
	// Rejected is called when a client has too many connections; nil for no call.
	Rejected func()
	// Failed is called when Accept fails, which is retried with a backoff of up to a second; nil for no call.
	Failed func(error)
	// WriteDeadline returns the deadline by which a client must read the next chunk of a response; nil for no
	// deadline.
	WriteDeadline func() time.Time
	// TooManyConnections returns the complete response to a client that has too many connections; nil closes the
	// connection without a response, as with TLS, where the client could not read it.
	TooManyConnections func() []byte
}

// NewSocket starts to accept connections of listener, until Close.
func NewSocket(listener net.Listener, config SocketConfig) *Socket {
	s := &Socket{
		listener: listener, config: config,
		conns: make(chan net.Conn), done: make(chan struct{}), stopped: make(chan struct{}),
		abandoned: make(chan struct{}),
	}
	s.abandon = sync.OnceFunc(func() { close(s.abandoned) })
	go s.run()
	return s
}

// Addr returns the address that is listened on.
func (s *Socket) Addr() net.Addr { return s.listener.Addr() }

// run accepts until Drain. Connections accepted before it are still served. At the limit, one connection
// waits here until it is admitted, and others in the backlog.
func (s *Socket) run() {
	defer close(s.stopped)
	failures := newBackoff()
	defer failures.stop()
	for {
		conn, err := s.listener.Accept()
		select {
		case <-s.done:
			if err != nil {
				return
			}
		default:
		}
		if err != nil {
			// The error is temporary: no free descriptors, or a client that has already disconnected.
			if s.config.Failed != nil {
				s.config.Failed(err)
			}
			if errors.Is(err, net.ErrClosed) || !failures.wait(s.done) {
				return
			}
			continue
		}
		failures.reset()
		if conn = s.admit(conn); conn != nil {
			select {
			case s.conns <- conn:
			case <-s.abandoned:
				_ = conn.Close()
			}
		}
	}
}

// admit counts a connection, and waits until the limit allows it. It returns nil if its client has too many.
func (s *Socket) admit(conn net.Conn) net.Conn {
	c := &clientConn{Conn: conn, socket: s, deadline: s.config.WriteDeadline}
	if !s.config.Limit.add(c, addrOf(conn.RemoteAddr()), s.done) {
		s.refuse(conn)
		_ = conn.Close()
		return nil
	}
	return c
}

// refuse responds to a client that has too many connections.
func (s *Socket) refuse(conn net.Conn) {
	if s.config.Rejected != nil {
		s.config.Rejected()
	}
	if s.config.TooManyConnections != nil {
		_, _ = conn.Write(s.config.TooManyConnections()) // fits into the buffer of a new socket
	}
}

// addrOf returns an IP address, unmapped and without zone; the zero value for another kind of address, as on
// a Unix domain socket.
func addrOf(addr net.Addr) netip.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// Drain stops accepting, and returns when all accepted connections have a server. The address is free then, unless
// another process holds it: connections in the backlog of a systemd socket stay there for the next process.
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
	_ = s.listener.Close() // Close reports the error
}

// Close closes the socket. Call Drain before it, while a server is still running.
func (s *Socket) Close() error {
	s.abandon()
	s.Drain()
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing %s: %w", s.listener.Addr(), err)
	}
	return nil
}

// Listener returns a listener for one server; closing it does not close the socket.
func (s *Socket) Listener() net.Listener {
	return &socketListener{Socket: s, closed: make(chan struct{})}
}

type socketListener struct {
	*Socket
	closed chan struct{}
	once   sync.Once
}

// Accept implements net.Listener. Once the listener is closed, it returns no connection, even if one waits.
func (l *socketListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *socketListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// backoff doubles the wait after each failure.
type backoff struct {
	timer *time.Timer
	next  time.Duration
}

const shortestBackoff, longestBackoff = 5 * time.Millisecond, time.Second

func newBackoff() *backoff {
	b := &backoff{timer: time.NewTimer(time.Hour)}
	b.reset()
	return b
}

func (b *backoff) reset() { b.next = shortestBackoff }

func (b *backoff) stop() { b.timer.Stop() }

// wait returns false if done was closed before the wait was over.
func (b *backoff) wait(done <-chan struct{}) bool {
	b.timer.Reset(b.next)
	b.next = min(2*b.next, longestBackoff)
	select {
	case <-b.timer.C:
		return true
	case <-done:
		return false
	}
}
