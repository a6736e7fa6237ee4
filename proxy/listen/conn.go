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

// Conn is an accepted connection that a protocol serves: TLS, the PROXY protocol, limits and write deadlines are below
// it. It is a net.Conn whose Read, ReadEach, Await and Handshake are for one goroutine at a time, and whose Write,
// WriteBuffers and ReadFrom are for one at a time as well, which may be another one. All other methods are safe for
// concurrent use.
//
// A Conn is idle until Serving, and again from Idle on. One that is idle may be closed at any time, for a new
// connection or because the server drains (RFC 9112 section 9.5): its reads end then with os.ErrDeadlineExceeded,
// Serving reports false, and what is still written, such as GOAWAY, has the close grace period.
type Conn struct {
	client  *clientConn
	proxied *proxyproto.Conn // nil without the PROXY protocol
	tls     *tls.Conn        // nil without TLS
	in, out net.Conn         // what is read from and written to
	tracked *connections

	accepted   time.Time
	remote     net.Addr
	handshaken bool // Handshake has returned protocol and err
	protocol   string
	serverName string
	err        error

	state    atomic.Int32
	used     atomic.Bool // something of a request has come
	released atomic.Bool
	parked   *parked // set by Park, for the worker; nil for none
	drain    drainHook
	wait     clientWait
}

// The states of a Conn.
const (
	fresh   int32 = iota // nothing of a request has come yet
	idle                 // it waits for another request
	serving              // a request is under way
	leaving              // it was idle when it was dismissed: nothing is answered any more
	ended                // Close was called
)

// newConn returns the Conn of what a listener has accepted.
func newConn(tracked *connections, accepted net.Conn) *Conn {
	config := &tracked.server.config
	client, ok := accepted.(*clientConn)
	if !ok { // of a listener that is none of a Socket
		client = &clientConn{Conn: accepted}
	}
	c := &Conn{client: client, in: client, out: client, tracked: tracked, accepted: config.Now()}
	c.remote = client.RemoteAddr()
	if isSender(config.ProxyProtocol, addrOf(c.remote)) {
		c.proxied = newProxied(client, config.HeaderTimeout)
		c.in = c.proxied
	}
	if config.TLS != nil && !client.probe {
		c.tls = tls.Server(c.in, config.TLS)
		c.in, c.out = c.tls, c.tls
	}
	return c
}

// Probe reports whether the connection is that of Socket.Probe, by which this process looks whether it answers. It has
// no TLS.
func (c *Conn) Probe() bool { return c.client.probe }

// Proxied reports whether the address of the client is that which a proxy in front says, by the PROXY protocol.
func (c *Conn) Proxied() bool { return c.proxied != nil }

// RemoteAddr returns the address of the client, also behind a proxy of the PROXY protocol. It is for behind Handshake.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// LocalAddr returns the address that the client has connected to. It is for behind Handshake.
func (c *Conn) LocalAddr() net.Addr {
	if c.proxied != nil {
		return c.proxied.LocalAddr()
	}
	return c.client.LocalAddr()
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write implements net.Conn. The client must read each part of p within the write deadline, and nothing can be written
// behind an error.
func (c *Conn) Write(p []byte) (int, error) { return c.out.Write(p) }

// WriteBuffers is Write of several buffers as one, which it consumes.
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

// ReadsFrom returns the connection whose bytes Read passes on, nil while it has others: a tunnel reads from it past
// this one. There is no way past TLS, nor past the PROXY protocol, which may have read more than its header. Only who
// may call Read may call it.
func (c *Conn) ReadsFrom() net.Conn {
	if c.in != c.client {
		return nil
	}
	return c.client
}

// WritesTo returns the connection to which Write passes bytes on, nil with TLS. Only who may call Write may call it.
func (c *Conn) WritesTo() net.Conn {
	if c.out != c.client {
		return nil
	}
	return c.client
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.in.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn. It replaces the deadlines of SocketConfig.WriteDeadline until it is called with
// the zero value.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.out.SetWriteDeadline(t) }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CanReadEach reports whether ReadEach can be called: for sockets on Linux, without TLS and the PROXY protocol.
func (c *Conn) CanReadEach() bool { return c.in == c.client && c.client.direct().canRead() }

// ReadEach reads into p and calls received with the number of bytes of each read, until that returns false. It returns
// at the read deadline as well, and io.EOF where the client has ended its side. Between two reads it costs one system
// call and no wake-up of another goroutine. received is called within the poller: it may write, and must not read,
// wait, or close the connection; what another goroutine closes then is closed behind it.
//
// Where a read has not filled p, ReadEach waits without trying another one: the poller is edge-triggered and wakes it
// for what comes later (epoll(7)), but not for an end of the client's side that came together with those bytes. So the
// read deadline is to be near, two seconds at most, and Read or Await is to follow, which notice it.
func (c *Conn) ReadEach(p []byte, received func(n int) (again bool)) error {
	if !c.CanReadEach() {
		return fmt.Errorf("reading each: %w", errors.ErrUnsupported)
	}
	return c.client.direct().readEach(p, received)
}

// Await waits without a buffer until something can be read, the end of the client's side included, or until a time: it
// returns os.ErrDeadlineExceeded then, and the error of a connection that was closed. by is the read deadline
// afterwards. With TLS it waits for bytes on the socket below: so it is for behind a Read that has come to its
// deadline, when all that TLS has read was not enough to go on.
func (c *Conn) Await(by time.Time) error {
	c.client.single.Store(nil)
	_ = c.SetReadDeadline(by) // one that is closed fails to be awaited, too
	return c.client.await()
}

// parked is a connection that Await is called for when Serve has returned.
type parked struct {
	by     time.Time
	resume func(error)
}

// Park lets Serve return without an end of the connection, which is idle: the stack of its goroutine has grown with its
// requests. Await is called in another goroutine, and resume, in the place of Serve, with its error when it has
// returned.
func (c *Conn) Park(by time.Time, resume func(err error)) { c.parked = &parked{by, resume} }

// Release says that the caller of Serve has handed the connection over, as for a tunnel: who has it closes it, and the
// server counts it until then. Serve may return before. What OnDrain was called with is forgotten.
func (c *Conn) Release() {
	c.drain.clear()
	c.released.Store(true)
}

// Serving says that something of a request has come, before it is used. It reports false where the connection was
// dismissed, evicted or closed: then nothing is answered any more. It may be called again while a request is under way.
func (c *Conn) Serving() bool {
	if !c.client.member.Use() {
		return false
	}
	for {
		switch state := c.state.Load(); state {
		case serving:
			return true
		case leaving, ended:
			return false
		default:
			if !c.state.CompareAndSwap(state, serving) {
				continue
			}
			if state == fresh {
				c.used.Store(true)
				c.tracked.signal()
			}
			return true
		}
	}
}

// Idle says that the connection waits for a request of which nothing has come, and that the responses before it were
// written. It may be closed for a new connection then, or because the server drains.
func (c *Conn) Idle() {
	if !c.state.CompareAndSwap(serving, idle) {
		return
	}
	c.client.member.Idle()
	c.tracked.idled(c)
}

// dismiss ends the reads of a connection that is idle, so that its goroutine closes it.
func (c *Conn) dismiss() {
	if c.state.CompareAndSwap(fresh, leaving) || c.state.CompareAndSwap(idle, leaving) {
		c.client.dismiss(c.tracked.server.config.Now())
	}
}

// Draining reports whether clients are asked to close their connections: with the next response (RFC 9112 section 9.6),
// or by GOAWAY.
func (c *Conn) Draining() bool { return c.tracked.isDraining() }

// OnDrain calls f once when draining begins, in a goroutine of the server, and not behind the end of Serve, unless that
// has parked the connection. Where the server drains already it is called now. A protocol that calls OnDrain closes
// idle connections itself when the server drains: it has a second for that at the end of the server.
func (c *Conn) OnDrain(f func()) {
	c.drain.set(f)
	if c.Draining() {
		c.tracked.running.Go(c.drain.call)
	}
}

// Abort makes writes fail immediately, and the next Close a reset (RST): a client of HTTP/1.0 takes any other end for
// that of a complete response.
func (c *Conn) Abort() { c.client.abort() }

// lingering is how long a client may take to close a connection whose last response came before it has sent its request
// in full.
const lingering = 500 * time.Millisecond

// Linger closes the write side, reads and discards for half a second at most, and closes the connection: a connection
// that is closed with bytes that were not read is reset, and the reset may take the last response from the client (RFC
// 9112 section 9.6).
func (c *Conn) Linger() error {
	if c.CloseWrite() == nil && c.SetReadDeadline(c.tracked.server.config.Now().Add(lingering)) == nil {
		_, _ = io.Copy(io.Discard, c.client) // below TLS, which would decrypt it
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

// Close implements net.Conn. It is safe to be called again.
func (c *Conn) Close() error {
	if c.state.Swap(ended) == ended {
		return net.ErrClosed
	}
	err := c.out.Close()
	c.drain.clear()
	c.wait.end()
	c.tracked.remove(c)
	return err
}

// cut closes the socket, whatever is under way: a response ends by a reset, so that it does not look complete.
func (c *Conn) cut() {
	c.wait.end()
	if c.state.Load() == serving && !c.released.Load() {
		c.Abort()
	}
	_ = c.client.Close()
}
