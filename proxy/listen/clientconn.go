package listen

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/internal/quota"
)

// clientConn is an accepted connection, below all protocols. It ends if its client does not read within the
// write deadline. An aborted one is closed by a reset.
type clientConn struct {
	net.Conn
	socket   *Socket          // that has accepted it, nil for none
	member   *quota.Member    // of the ConnectionLimit; nil for none
	deadline func() time.Time // of each written chunk; nil for none
	probe    bool             // the server's end of the connection of Socket.Probe

	single   atomic.Pointer[directIO]  // created on first use
	explicit atomic.Bool               // an explicit write deadline is set
	aborted  atomic.Bool               // no more writes
	grace    atomic.Pointer[time.Time] // the end of the close grace period; nil if the connection was not dismissed

	ahead    [1]byte // the byte that await has read, if it cannot wait without reading
	hasAhead bool
}

// chunk is the number of bytes that a client must read before the deadline.
const chunk = 64 << 10

// fileChunk is the number of bytes of a file that are sent with one deadline, by which at least chunk must be read.
const fileChunk = 1 << 20

// Read implements net.Conn.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.hasAhead && len(p) > 0 {
		p[0], c.hasAhead = c.ahead[0], false
		return 1, nil
	}
	return c.Conn.Read(p)
}

// await waits until Read would not block.
func (c *clientConn) await() error {
	if c.hasAhead {
		return nil
	}
	if err := awaitReadable(c.Conn); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	n, err := c.Conn.Read(c.ahead[:])
	if c.hasAhead = n > 0; c.hasAhead || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// direct returns the access to the socket by single system calls.
func (c *clientConn) direct() *directIO {
	d := c.single.Load()
	if d == nil {
		d = newDirectIO(c.Conn)
		c.single.Store(d)
	}
	return d
}

// Write implements net.Conn. Data that the socket accepts immediately needs no deadline.
func (c *clientConn) Write(p []byte) (written int, err error) {
	if !c.aborted.Load() {
		if written = c.direct().try(p); written == len(p) {
			return written, nil
		}
		p = p[written:]
	}
	for {
		part := p[:min(len(p), chunk)]
		n, err := c.WithWriteDeadline(func() (int64, error) {
			n, err := c.Conn.Write(part)
			part = part[n:]
			return int64(n), err
		})
		written += int(n)
		if p = p[n:]; err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// beginChunk sets the deadline of a chunk. Nothing is written to an aborted connection, not even the
// close_notify of TLS.
func (c *clientConn) beginChunk() error {
	if c.aborted.Load() {
		return os.ErrDeadlineExceeded
	}
	if c.deadline == nil || c.explicit.Load() {
		return nil
	}
	return c.Conn.SetWriteDeadline(c.deadline())
}

// WriteBuffers writes several buffers as one, and consumes them. The deadline of each part is the same as for files.
func (c *clientConn) WriteBuffers(buffers net.Buffers) (written int64, err error) {
	for len(buffers) > 0 && err == nil {
		end, size := 0, 0
		for end < len(buffers) && size < fileChunk {
			size += len(buffers[end])
			end++
		}
		var n int64
		part := buffers[:end]
		n, err = c.WithWriteDeadline(func() (int64, error) { return part.WriteTo(c.Conn) })
		written += n
		buffers = buffers[end:]
	}
	return written, err
}

// ReadFrom implements io.ReaderFrom. The standard library sends a limited file by sendfile(2). Each part has
// the deadline of WithWriteDeadline.
func (c *clientConn) ReadFrom(r io.Reader) (sent int64, err error) {
	file, ok := r.(*io.LimitedReader)
	to, canRead := c.Conn.(io.ReaderFrom)
	if !ok || !canRead {
		return io.Copy(onlyWriter{c}, r)
	}
	for file.N > 0 {
		part := &io.LimitedReader{R: file.R, N: min(file.N, fileChunk)}
		n, err := c.WithWriteDeadline(func() (int64, error) { return to.ReadFrom(part) })
		sent += n
		file.N -= n
		if n == 0 || err != nil { // the file is shorter, or the client does not read
			return sent, err
		}
	}
	return sent, nil
}

// onlyWriter hides other methods.
type onlyWriter struct{ io.Writer }

// WithWriteDeadline calls write, which writes to the underlying connection and returns the number of bytes, with the
// deadline of a chunk: repeatedly, as long as the client has read a chunk whenever the deadline passes. The queue of
// the socket shows what it has read: Linux accepts nothing until a third of its buffer is free, which may be more.
func (c *clientConn) WithWriteDeadline(write func() (int64, error)) (written int64, err error) {
	for {
		before := c.direct().queued()
		if err := c.beginChunk(); err != nil {
			return written, err
		}
		n, err := write()
		written += n
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && before+n-c.direct().queued() >= chunk && !c.aborted.Load():
			continue
		case err != nil:
			c.aborted.Store(true)
		}
		return written, err
	}
}

// ReadConn returns the connection whose data Read passes through, nil while it has buffered data.
func (c *clientConn) ReadConn() net.Conn {
	if c.hasAhead {
		return nil
	}
	return c.Conn
}

// WriteConn returns the connection to which Write passes data through: WithWriteDeadline limits writes to it.
func (c *clientConn) WriteConn() net.Conn { return c.Conn }

// abort makes writes fail, including one in progress.
func (c *clientConn) abort() {
	c.aborted.Store(true)
	_ = c.Conn.SetWriteDeadline(distantPast()) // fails only if it is closed
}

// distantPast is a deadline in the past of any clock.
func distantPast() time.Time { return time.Unix(1, 0) }

// closeGrace is how long a dismissed connection may take for its last bytes: a GOAWAY frame, and the
// close_notify of TLS, for which crypto/tls allows five seconds. It is not counted by limits any more, and
// its client need not read.
const closeGrace = 100 * time.Millisecond

// SetWriteDeadline implements net.Conn.
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	if grace := c.grace.Load(); grace != nil && (t.IsZero() || t.After(*grace)) {
		t = *grace
	}
	c.explicit.Store(!t.IsZero())
	return c.Conn.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. Reads of a dismissed connection end immediately, even if a deadline is
// set concurrently.
func (c *clientConn) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	if c.grace.Load() != nil {
		_ = c.Conn.SetReadDeadline(distantPast())
	}
	return err
}

// SetDeadline implements net.Conn.
func (c *clientConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// dismiss ends reads, so that the goroutine of the connection closes it, and starts the close grace period.
// On a closed connection it has no effect.
func (c *clientConn) dismiss(now time.Time) {
	grace := now.Add(closeGrace)
	c.grace.Store(&grace)
	_ = c.Conn.SetReadDeadline(distantPast())
	_ = c.SetWriteDeadline(time.Time{})
}

// Evict implements quota.Evictable.
func (c *clientConn) Evict(now time.Time) { c.dismiss(now) }

// Unread implements quota.Evictable.
func (c *clientConn) Unread() bool { return hasUnread(c.Conn) }

// CloseWrite closes the write side.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.member.Remove()
	// A dismissed connection only lacks its last bytes: a reset would lose the end of a response.
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.aborted.Load() && c.grace.Load() == nil {
		_ = tcp.SetLinger(0)
	}
	return c.Conn.Close()
}
