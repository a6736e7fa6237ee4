package schemetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// failureKind is the failure of a server.
type failureKind uint8

const (
	failureNone    failureKind = iota
	failureSilent              // writes nothing more; connections stay open
	failureClose               // closes all connections by FIN
	failureReset               // closes all connections by RST
	failureEndless             // writes letters without end
	failureBytes               // writes one byte at a time
	failureTrickle             // writes one byte at a time, with a delay before each
	failureChanged             // replaces some bytes by random ones
	failureRandom              // writes only random bytes
)

// trickleDelay is the delay between bytes of failureTrickle.
const trickleDelay = 20 * time.Millisecond

// failingWrites is the failure of a server after it has written a number of bytes on all its connections together.
type failingWrites struct {
	kind  failureKind
	after int64
	seed  uint64
}

var errFailure = errors.New("server failure")

// server runs a Peer on loopback.
type server struct {
	served   Server
	failure  failingWrites
	peer     func(net.Conn, *Server)
	listener net.Listener
	running  sync.WaitGroup // the accept loops and the peers
	reached  chan struct{}  // closed when the failure starts
	reach    func()

	mu        sync.Mutex
	random    *rand.Rand
	written   int64
	accepted  int
	closed    bool
	conns     map[net.Conn]bool
	data      []net.Listener // listeners for data connections
	requested map[string]bool
}

// serve starts a server, which the caller must stop.
func serve(t testing.TB, peer func(net.Conn, *Server), served Server, f failingWrites) *server {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{
		served: served, failure: f, peer: peer, listener: listener, reached: make(chan struct{}),
		random: rand.New(rand.NewPCG(f.seed, 0)), //nolint:gosec // reproducible by its seed
		conns:  make(map[net.Conn]bool), requested: make(map[string]bool),
	}
	s.reach = sync.OnceFunc(func() { close(s.reached) })
	s.served.Listen, s.served.Requested = s.listen, s.ask
	if s.served.Body == nil {
		s.served.Body = func() io.Reader { return bytes.NewReader(byteSequence(smallBody)) }
	}
	s.running.Go(s.accept)
	return s
}

func (s *server) address() string { return s.listener.Addr().String() }

func (s *server) accept() {
	for {
		accepted, err := s.listener.Accept()
		if err != nil {
			return
		}
		c, err := s.open(accepted)
		if err != nil {
			continue
		}
		s.running.Go(func() {
			defer c.Close()
			if s.failure.kind == failureRandom {
				s.rave(c)
				return
			}
			s.peer(c, &s.served)
		})
	}
}

// open registers an accepted connection, and wraps it.
func (s *server) open(accepted net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted++
	if s.closed {
		shut(accepted, s.failure.kind)
		return nil, errFailure
	}
	c := &serverConn{Conn: accepted, server: s}
	s.conns[accepted] = true
	return c, nil
}

// rave writes random bytes.
func (s *server) rave(c net.Conn) {
	s.mu.Lock()
	noise := make([]byte, s.random.IntN(4<<10))
	for i := range noise {
		noise[i] = s.randomByte()
	}
	s.mu.Unlock()
	_, _ = c.Write(noise)
}

// randomByte returns a random byte; s.mu is held.
func (s *server) randomByte() byte { return byte(s.random.UintN(1 << 8)) } //nolint:gosec // less than 256

// listen implements Server.Listen.
func (s *server) listen() (net.Listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errFailure
	}
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.data = append(s.data, l)
	return dataListener{l, s}, nil
}

// ask implements Server.Requested.
func (s *server) ask(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requested[name] = true
}

// requestedName returns the names requested since forget.
func (s *server) requestedName() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requested)
}

func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.requested)
}

// total returns the number of bytes written.
func (s *server) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// connections returns the number of accepted connections.
func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// shutAll closes the listeners and connections of a server, by RST for failureReset.
func (s *server) shutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, l := range s.data {
		_ = l.Close()
	}
	for c := range s.conns {
		shut(c, s.failure.kind)
	}
}

func shut(c net.Conn, kind failureKind) {
	if tcp, ok := c.(*net.TCPConn); ok && kind == failureReset {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// stop waits until all peers have seen the end of their connections: the handler must have closed them.
func (s *server) stop(t testing.TB) {
	t.Helper()
	_ = s.listener.Close()
	s.mu.Lock()
	for _, l := range s.data {
		_ = l.Close()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	timer := time.NewTimer(promptTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		t.Errorf("connections still open after Close of the handler")
		s.shutAll()
	}
}

// dataListener accepts data connections of a server.
type dataListener struct {
	net.Listener
	server *server
}

// Accept implements net.Listener.
func (l dataListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.server.open(accepted)
}
