package http1

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Buffer is the buffer of a connection, as *bufio.Reader is one. What is behind a body stays in it.
type Buffer interface {
	io.Reader // reads at most what it is asked for beyond the bytes that are buffered
	Buffered() int
	Peek(n int) ([]byte, error) // called with 1, and with Buffered
	Discard(n int) (int, error)
}

// ChunkedReader decodes a body in the chunked coding (RFC 9112 section 7.1), and reads nothing behind its end. In and
// MaxTrailer are set before it is used. It is not safe for concurrent use.
type ChunkedReader struct {
	In Buffer
	// Trailer gets the fields behind the body, before Read returns io.EOF: those that may be there, in memory of their
	// own. nil drops them.
	Trailer    *httpmessage.Trailer
	MaxTrailer int // of the trailer section, in bytes
	// Lenient is for responses: the trailer section is parsed as ParseResponse parses fields, extensions may have any
	// bytes but CR and LF, and the size of a chunk may have 16 digits.
	Lenient bool

	state  chunkState
	left   int64  // of the content of the chunk
	line   []byte // the beginning of a line, or of the trailer section
	excess int64  // see excessive
	err    error
}

// chunkState is what comes next.
type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkContent
	chunkCR // behind the content
	chunkLF
	chunkTrailer
)

const (
	// maxChunkLine bounds a line with the size of a chunk and its extensions.
	maxChunkLine = 4 << 10
	// The lines of chunks may have freeExcess bytes a chunk, twice the bytes of the content, and maxExcess bytes beyond
	// that, as to net/http: a client that sends one byte a chunk is served, one that sends extensions alone is not.
	freeExcess = 16
	maxExcess  = 16 << 10
)

// Read implements io.Reader. At the end of the body it returns io.EOF, before it io.ErrUnexpectedEOF where In ends.
// What breaks the grammar is an *Error. Behind another error of In, such as that of a deadline, it may be called again.
func (c *ChunkedReader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, c.err
	}
	for n == 0 && err == nil {
		n, err = c.read(p)
	}
	return n, err
}

// read decodes what is buffered, or waits for more.
func (c *ChunkedReader) read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.In.Buffered() == 0 && c.state == chunkContent { // past the buffer
		n, err = c.In.Read(p[:min(int64(len(p)), c.left)])
		c.advance(n)
		return n, unexpected(err)
	}
	if _, err = c.In.Peek(1); err != nil {
		return 0, unexpected(err)
	}
	b, err := c.In.Peek(c.In.Buffered())
	if err != nil {
		return 0, err
	}
	n, used, failed := c.decode(p, b)
	c.err = failed
	_, err = c.In.Discard(used)
	return n, cmp.Or(c.err, err)
}

// unexpected returns the error of what ended before its end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decode decodes src into dst, until one of them is used up, and returns how many bytes of each it has used.
func (c *ChunkedReader) decode(dst, src []byte) (n, used int, err error) {
	for used < len(src) {
		switch c.state {
		case chunkContent:
			if n == len(dst) {
				return n, used, nil
			}
			rest := src[used:]
			copied := copy(dst[n:], rest[:min(int64(len(rest)), c.left)])
			c.advance(copied)
			n, used = n+copied, used+copied
		case chunkCR, chunkLF:
			if src[used] != "\r\n"[c.state-chunkCR] {
				return n, used, refused("no CRLF is behind the content of a chunk")
			}
			c.state = (c.state + 1) % chunkTrailer // chunkSize is behind chunkLF
			used++
		default:
			part, _, whole := bytes.Cut(src[used:], []byte("\n"))
			if whole {
				part = part[:len(part)+1]
			}
			used += len(part)
			if err = c.addLine(part, whole); err != nil {
				return n, used, err
			}
		}
	}
	return n, used, nil
}

// advance counts content that was read.
func (c *ChunkedReader) advance(n int) {
	if c.left -= int64(n); c.left == 0 {
		c.state = chunkCR
	}
}

// addLine adds a part of a line of the framing. Its error is io.EOF at the end of the body.
func (c *ChunkedReader) addLine(part []byte, whole bool) error {
	most := maxChunkLine
	if c.state == chunkTrailer {
		most = c.MaxTrailer
	}
	if len(c.line)+len(part) > most {
		if c.state == chunkTrailer {
			return &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the trailer section is too large"}
		}
		return refused("the line of a chunk is too long")
	}
	c.line = append(c.line, part...)
	if !whole {
		return nil
	}
	if c.state == chunkTrailer {
		return c.addTrailer()
	}
	err := c.begin(string(c.line))
	c.line = c.line[:0]
	return err
}

// begin begins a chunk: RFC 9112 section 7.1. Extensions are ignored (section 7.1.1), as they are not passed on: quoted
// or not, they have no CR and no LF, so that all recipients find the end of the line.
func (c *ChunkedReader) begin(line string) error {
	text, ok := strings.CutSuffix(line, crlf)
	if !ok {
		return refused(reasonBareLF)
	}
	if strings.IndexByte(text, '\r') >= 0 {
		return refused(reasonBareCR)
	}
	digits, extensions, _ := strings.Cut(text, ";")
	digits = strings.TrimRight(digits, " \t")
	n, err := strconv.ParseUint(digits, 16, 63)
	if err != nil || len(digits) > maxDigits && (!c.Lenient || len(digits) > maxDigits+1) {
		return refused("the size of a chunk is not a hexadecimal number of at most 15 digits")
	}
	size := int64(n)
	if !c.Lenient && !httpguts.ValidHeaderFieldValue(extensions) {
		return refused("the extensions of a chunk have a control character")
	}
	if c.excessive(len(line), size) {
		return refused("the chunks have more extensions and sizes than content")
	}
	c.left, c.state = size, chunkContent
	if size == 0 {
		c.state = chunkTrailer
	}
	return nil
}

// excessive reports whether the lines of the chunks up to this one are too large for their content.
func (c *ChunkedReader) excessive(line int, content int64) bool {
	const lineEnd = len(crlf)
	c.excess = max(c.excess+int64(line+lineEnd)-freeExcess-2*min(content, maxExcess), 0)
	return c.excess > maxExcess
}

// addTrailer is called for each line of the trailer section (RFC 9112 section 7.1.2), and returns io.EOF behind the
// last one.
func (c *ChunkedReader) addTrailer() error {
	start := bytes.LastIndexByte(c.line[:len(c.line)-1], '\n') + 1
	switch last := string(c.line[start:]); {
	case last == crlf, c.Lenient && last == "\n":
	case c.Lenient, strings.HasSuffix(last, crlf):
		return nil
	default:
		return refused(reasonBareLF)
	}
	if start == 0 {
		return io.EOF
	}
	fields, err := c.parseTrailer(start)
	if err == nil && c.Trailer != nil {
		c.Trailer.Fields = fields.Filter(func(f httpmessage.Field) bool { return TrailerField(f.Canonical()) })
	}
	return cmp.Or(err, io.EOF)
}

// parseTrailer parses the trailer section, of which so many bytes are before its empty line.
func (c *ChunkedReader) parseTrailer(size int) (fields httpmessage.Fields, err error) {
	if c.Lenient {
		return parseResponseFields(string(c.line[:size]), nil)
	}
	_, err = cutFields(string(c.line), maxFields(c.MaxTrailer), func(f httpmessage.Field) error {
		fields = append(fields, f)
		return nil
	})
	return fields, err
}
