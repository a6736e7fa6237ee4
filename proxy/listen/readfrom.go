package listen

import (
	"errors"
	"io"
	"net"
	"os"
)

// Files are sent to connections without TLS by sendfile(2), which the standard library calls where
// a connection reads from a limited file.

// ReadFrom implements io.ReaderFrom.
func (c *requestConn) ReadFrom(r io.Reader) (int64, error) {
	if c.endsEarly.Load() {
		return 0, net.ErrClosed
	}
	if to, ok := c.Conn.(io.ReaderFrom); ok && c.handled.Load() && c.reason.status == "" {
		return to.ReadFrom(r)
	}
	return io.Copy(onlyWriter{c}, r)
}

// ReadFrom implements io.ReaderFrom. Each chunk has the deadline that it has where it is written.
func (c *clientConn) ReadFrom(r io.Reader) (sent int64, err error) {
	file, ok := r.(*io.LimitedReader)
	to, canRead := c.Conn.(io.ReaderFrom)
	if !ok || !canRead {
		return io.Copy(onlyWriter{c}, r)
	}
	for file.N > 0 {
		if c.aborted.Load() {
			return sent, os.ErrDeadlineExceeded
		}
		if c.deadline != nil && !c.explicit.Load() {
			if err := c.Conn.SetWriteDeadline(c.deadline()); err != nil {
				return sent, err
			}
		}
		part := &io.LimitedReader{R: file.R, N: min(file.N, fileChunk)}
		n, err := to.ReadFrom(part)
		sent += n
		file.N -= n
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && n >= chunk && !c.aborted.Load():
			continue // the client does read
		case err != nil:
			c.aborted.Store(true)
			return sent, err
		case n == 0: // the file is shorter
			return sent, nil
		}
	}
	return sent, nil
}

// fileChunk is the number of octets of a file that are sent with one deadline: of those at least
// chunk.
const fileChunk = 1 << 20

// onlyWriter hides other methods.
type onlyWriter struct{ io.Writer }
