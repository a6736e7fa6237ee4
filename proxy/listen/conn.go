package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/pires/go-proxyproto"
)

// Conn is an accepted connection that a protocol serves; it handles TLS, the PROXY protocol, limits and write
// deadlines. Its Read, ReadEach, Await and Handshake must be called by one goroutine at a time, its Write,
// WriteBuffers and ReadFrom also by one at a time, which may be another one. All other methods are safe for
// concurrent use.
//
// A Conn is idle until SetServing, and again after SetIdle. An idle connection may be closed at any time, for a new
// connection or because the server drains (RFC 9112 section 9.5): its reads then end with os.ErrDeadlineExceeded,
// SetServing reports false, and final writes, such as GOAWAY, have the close grace period.
type Conn struct {
	client  *clientConn
	proxied *proxyproto.Conn // nil without the PROXY protocol
	tls     *tls.Conn        // nil without TLS
	in, out net.Conn         // the top layers for reading and writing
	tracked *connections

	accepted   time.Time
	remote     net.Addr
	handshaken bool // Handshake has returned protocol and err
	protocol   string
	serverName string
	err        error

	state    atomic.Int32
	used     atomic.Bool // a part of a request was received
	released atomic.Bool
	tunnels  atomic.Bool // all requests in progress are tunnels
	resume   func(error) // set by Suspend, for the worker; nil for none
	drain    drainHook
	wait     clientWait
}

// The states of a Conn.
const (
	stateNew      int32 = iota // nothing of a request was received yet
	stateIdle                  // waiting for another request
	stateServing               // a request is in progress
	stateDraining              // dismissed while idle: no request is answered any more
	stateClosed                // Close was called
)

// newConn returns the Conn of an accepted connection.
func newConn(tracked *connections, accepted net.Conn) *Conn {
	config := &tracked.server.config
	client, ok := accepted.(*clientConn)
	if !ok { // the listener is not that of a Socket
		client = &clientConn{Conn: accepted}
	}
	c := &Conn{client: client, in: client, out: client, tracked: tracked, accepted: config.Now()}
	c.remote = client.RemoteAddr()
	if isSender(config.ProxyProtocol, addrOf(c.remote)) {
		c.proxied = newProxied(client, config.ReadHeaderTimeout)
		c.in = c.proxied
	}
	if config.TLS != nil && !client.probe {
		c.tls = tls.Server(c.in, config.TLS)
		c.in, c.out = c.tls, c.tls
	}
	return c
}

// IsProbe reports whether this is the connection of Socket.Probe, by which the process checks that it responds.
// It has no TLS.
func (c *Conn) IsProbe() bool { return c.client.probe }

// Proxied reports whether the address of the client comes from a proxy in front, by the PROXY protocol.
func (c *Conn) Proxied() bool { return c.proxied != nil }

// RemoteAddr returns the address of the client, also behind the PROXY protocol. It is valid after Handshake.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// LocalAddr returns the address that the client has connected to. It is valid after Handshake.
func (c *Conn) LocalAddr() net.Addr {
	if c.proxied != nil {
		return c.proxied.LocalAddr()
	}
	return c.client.LocalAddr()
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write implements net.Conn. The client must read each part of p within the write deadline. After an error no
// writes are possible.
func (c *Conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// WriteBuffers writes several buffers as one, and consumes them.
func (c *Conn) WriteBuffers(buffers net.Buffers) (int64, error) {
	if c.out == c.client {
		return c.client.WriteBuffers(buffers)
	}
	return buffers.WriteTo(c.out)
}

// ReadFrom implements io.ReaderFrom. Without TLS a limited file is sent by sendfile(2).
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	if c.out == c.client {
		return c.client.ReadFrom(r)
	}
	return io.Copy(onlyWriter{c.out}, r)
}

// ReadConn returns the connection whose data Read passes through, nil while it has buffered data: a tunnel
// reads from it directly. It is nil with TLS, and with the PROXY protocol, whose reader may have read more
// than its header. Only the goroutine that may call Read may call it.
func (c *Conn) ReadConn() net.Conn {
	if c.in != c.client {
		return nil
	}
	return c.client
}

// WriteConn returns the connection to which Write passes data through, nil with TLS. Only the goroutine that
// may call Write may call it.
func (c *Conn) WriteConn() net.Conn {
	if c.out != c.client {
		return nil
	}
	return c.client
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.in.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn. It replaces the deadlines of SocketConfig.WriteDeadline until it is
// called with the zero value.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CanReadEach reports whether ReadEach may be called: for sockets on Linux, without TLS and the PROXY protocol.
func (c *Conn) CanReadEach() bool { return c.in == c.client && c.client.direct().canRead() }

// ReadEach reads into p and calls received with the number of bytes of each read, until that returns false.
// It also returns at the read deadline, and io.EOF if the client has closed its side. Between two reads it
// costs one system call and no wake-up of another goroutine. received is called within the poller: it may
// write, and must not read, block, or close the connection; a concurrent close takes effect after it.
//
// If a read has not filled p, ReadEach waits without another attempt: the poller is edge-triggered and wakes
// it for later data (epoll(7)), but not for a close by the client that arrived together with that data. So
// the read deadline should be two seconds at most, followed by Read or Await, which detect the close.
func (c *Conn) ReadEach(p []byte, received func(n int) (again bool)) error {
	if !c.CanReadEach() {
		return fmt.Errorf("reading each: %w", errors.ErrUnsupported)
	}
	return c.client.direct().readEach(p, received)
}

// Await waits without a buffer until data can be read, or the end of the client's side, or until the read deadline:
// then it returns os.ErrDeadlineExceeded. On a closed connection it returns an error. It does not set the deadline,
// which another goroutine may have changed. With TLS it waits for bytes on the underlying socket: so it must only
// follow a Read that has reached its deadline, when TLS has no complete record buffered.
func (c *Conn) Await() error {
	c.client.single.Store(nil)
	return c.client.await()
}

// Suspend allows Serve to return while the connection is idle, to free the stack of its goroutine, which has grown with
// requests. Await is called in another goroutine, which then calls resume, instead of Serve, with its error. by becomes
// the read deadline immediately.
func (c *Conn) Suspend(by time.Time, resume func(err error)) {
	_ = c.SetReadDeadline(by) // on a closed connection waiting fails, too
	c.resume = resume
}

// Release means that the connection was handed over, such as for a tunnel: its new owner closes it, and the
// server tracks it until then. Serve may return earlier. The function of OnDrain is dropped.
func (c *Conn) Release() {
	c.drain.clear()
	c.released.Store(true)
}

// SetTunnels sets whether all requests in progress are tunnels: like a released connection, such a one may never end.
func (c *Conn) SetTunnels(only bool) { c.tunnels.Store(only) }

// requestInProgress reports whether a request is in progress that is no tunnel.
func (c *Conn) requestInProgress() bool {
	return c.state.Load() == stateServing && !c.released.Load() && !c.tunnels.Load()
}

// SetServing marks the connection as serving, when a part of a request was received and before it is used. It
// reports false if the connection was dismissed, evicted or closed: then no request must be answered. It may
// be called again while a request is in progress.
func (c *Conn) SetServing() bool {
	if !c.client.member.Use() {
		return false
	}
	for {
		switch state := c.state.Load(); state {
		case stateServing:
			return true
		case stateDraining, stateClosed:
			return false
		default:
			if !c.state.CompareAndSwap(state, stateServing) {
				continue
			}
			if state == stateNew {
				c.used.Store(true)
				c.tracked.signal()
			}
			return true
		}
	}
}

// SetIdle marks the connection as waiting for a request of which nothing was received, with all responses
// written. It may then be closed for a new connection, or because the server drains.
func (c *Conn) SetIdle() {
	if !c.state.CompareAndSwap(stateServing, stateIdle) {
		return
	}
	c.client.member.Idle()
	c.tracked.idled(c)
}

// dismiss ends the reads of an idle connection, so that its goroutine closes it.
func (c *Conn) dismiss() {
	if c.state.CompareAndSwap(stateNew, stateDraining) || c.state.CompareAndSwap(stateIdle, stateDraining) {
		c.client.dismiss(c.tracked.server.config.Now())
	}
}

// Draining reports whether clients are asked to close their connections: with the next response (RFC 9112
// section 9.6), or by GOAWAY.
func (c *Conn) Draining() bool { return c.tracked.isDraining() }

// OnDrain calls f once when draining begins, in a goroutine of the server, and not after Serve has returned, unless
// that has suspended the connection. If the server is draining already, f is called now. A protocol that calls OnDrain
// closes idle connections itself during draining: it has a second for that at the end of the server.
func (c *Conn) OnDrain(f func()) {
	c.drain.set(f)
	if c.Draining() {
		c.tracked.running.Go(c.drain.call)
	}
}

// Abort makes writes fail immediately, and the next Close a reset (RST): a client of HTTP/1.0 would take any
// other end for that of a complete response.
func (c *Conn) Abort() { c.client.abort() }

// lingering is how long a client may take to close a connection whose last response was sent before its
// request was complete.
const lingering = 500 * time.Millisecond

// Linger closes the write side, reads and discards for at most half a second, and closes the connection:
// closing a connection with unread data resets it, and a reset may discard the last response at the client
// (RFC 9112 section 9.6).
func (c *Conn) Linger() error {
	if c.CloseWrite() == nil && c.SetReadDeadline(c.tracked.server.config.Now().Add(lingering)) == nil {
		_, _ = io.Copy(io.Discard, c.client) // below TLS, which would decrypt the data
	}
	return c.Close()
}

// CloseWrite closes the write side: with TLS by close_notify (RFC 8446 section 6.1).
func (c *Conn) CloseWrite() error {
	if c.tls != nil {
		return c.tls.CloseWrite()
	}
	return c.client.CloseWrite()
}

// Close implements net.Conn. It may be called again.
func (c *Conn) Close() error {
	if c.state.Swap(stateClosed) == stateClosed {
		return net.ErrClosed
	}
	err := c.out.Close()
	c.drain.clear()
	c.wait.end()
	c.tracked.remove(c)
	return err
}

// cut closes the socket unconditionally: a response in progress ends by a reset, so that it does not look complete.
func (c *Conn) cut() {
	c.wait.end()
	if c.requestInProgress() {
		c.Abort()
	}
	_ = c.client.Close()
}
