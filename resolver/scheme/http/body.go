package http

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

// body is the body of a response: RFC 9112 section 6.3. Close may be called while it is read.
type body struct {
	*exchange
	framing
	read    int64
	chunks  io.Reader            // nil where it is not chunked
	trailer *httpmessage.Trailer // where it is
	err     error
}

// Read implements io.Reader. At the end the trailer is complete. A body that ends early ends with
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
	b.finish(whole && b.persist)
	return n, b.err
}

// Buffered returns how many octets of the content have surely come that are not read yet.
func (b *body) Buffered() int {
	if b.chunked { // it may be the size of a chunk alone
		return 0
	}
	return b.in.Buffered()
}

// next reads a part; its error is io.EOF only where the body is whole.
func (b *body) next(p []byte) (int, error) {
	switch {
	case b.empty:
		return 0, io.EOF
	case b.chunked:
		n, err := b.chunks.Read(p)
		if err == nil {
			return n, nil
		}
		return n, b.endChunks(err)
	case b.length < 0: // it ends with the connection
		n, err := b.in.Read(p)
		b.persist = false
		return n, err
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.length-b.read)])
	b.read += int64(n)
	if b.read == b.length {
		return n, io.EOF
	}
	if err != nil {
		err = early(err)
	}
	return n, err
}

// endChunks reads the trailer section after the last chunk, and returns io.EOF: RFC 9112 section
// 7.1.2. Any other error is returned, as that of a response that is not valid where it is neither
// of the connection nor its end.
func (b *body) endChunks(err error) error {
	var broken net.Error
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken):
		return err
	default:
		return invalid("its chunks: %w", err)
	}
	text, err := readSection(b.in, b.scratch[:0])
	b.scratch = text
	if err != nil {
		return fmt.Errorf("reading the trailers: %w", err)
	}
	fields, err := parseFields(string(text), nil)
	if err != nil {
		return err
	}
	b.trailer.Fields = fields.Filter(func(f httpmessage.Field) bool { return isTrailer(f.Canonical()) })
	return io.EOF
}

// Close implements io.Closer. It waits until the body of the request is no longer read.
func (b *body) Close() error {
	b.abort()
	closeBody(b.request.Body)
	return nil
}

// announced returns the names of trailer fields that a response announces, sorted: RFC 9110 section 6.6.2.
func announced(fields httpmessage.Fields) (names []string) {
	for _, line := range fields.Lines("Trailer") {
		for name := range strings.SplitSeq(line, ",") {
			name = textproto.CanonicalMIMEHeaderKey(strings.Trim(name, " \t"))
			if isTrailer(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isTrailer reports whether a field, as net/http spells it, may be in a trailer section, and not decide about framing or
// routing: RFC 9110 section 6.5.1.
func isTrailer(name string) bool { return httpguts.ValidTrailerHeader(name) && name != "" }
