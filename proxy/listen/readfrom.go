package listen

import (
	"io"
	"net"
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
		part := &io.LimitedReader{R: file.R, N: min(file.N, fileChunk)}
		n, err := c.WriteBy(func() (int64, error) { return to.ReadFrom(part) })
		sent += n
		file.N -= n
		if n == 0 || err != nil { // the file is shorter, or the client does not read
			return sent, err
		}
	}
	return sent, nil
}

// fileChunk is the number of octets of a file that are sent with one deadline: of those at least
// chunk.
const fileChunk = 1 << 20

// onlyWriter hides other methods.
type onlyWriter struct{ io.Writer }
