package http

import (
	"errors"
	"io"

	"github.com/urnd/urnd/internal/http1"
)

// body is the body of an HTTP/1.1 response: RFC 9112 section 6.3. Close may be called during a Read.
type body struct {
	*exchange
	http1.Framing
	read   int64
	chunks http1.ChunkedReader // for chunked framing
	err    error
}

// Read implements io.Reader. At io.EOF the trailer section is complete. A truncated body ends with
// io.ErrUnexpectedEOF.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := b.next(p)
	if err == nil {
		return n, nil
	}
	whole := errors.Is(err, io.EOF)
	if !whole {
		err = b.blame(err)
	}
	b.err = err
	b.finish(whole && b.KeepAlive)
	return n, b.err
}

// Buffered returns the number of bytes of the content that are buffered for certain.
func (b *body) Buffered() int {
	if b.Chunked { // the buffer may hold chunk framing only
		return 0
	}
	return b.in.Buffered()
}

// next reads a part of the body. Its error is io.EOF only if the body is complete.
func (b *body) next(p []byte) (int, error) {
	switch {
	case b.Empty:
		return 0, io.EOF
	case b.Chunked:
		n, err := b.chunks.Read(p)
		return n, responseError(err)
	case b.Length < 0: // delimited by the end of the connection
		n, err := b.in.Read(p)
		b.KeepAlive = false
		return n, err
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.Length-b.read)])
	b.read += int64(n)
	if b.read == b.Length {
		return n, io.EOF
	}
	if err != nil {
		err = unexpectedEOF(err)
	}
	return n, err
}

// Close implements io.Closer. It waits until the body of the request is no longer being read.
func (b *body) Close() error {
	b.abort()
	closeBody(b.request.Body)
	return nil
}
