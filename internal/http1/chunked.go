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

// Buffer is the read buffer of a connection; *bufio.Reader implements it. Bytes that follow a body remain in
// it.
type Buffer interface {
	io.Reader // Read returns buffered bytes first, and reads no more than len(p) beyond them
	Buffered() int
	Peek(n int) ([]byte, error) // called with n = 1 and n = Buffered()
	Discard(n int) (int, error)
}

// ChunkedReader decodes a body in the chunked transfer coding (RFC 9112 section 7.1). It consumes nothing after
// the end of the body. In and MaxTrailer must be set before the first Read. It is not safe for concurrent use.
type ChunkedReader struct {
	In Buffer
	// Trailer receives the trailer fields before Read returns io.EOF. Fields that TrailerField rejects are
	// dropped. The fields have their own memory. If Trailer is nil, all trailer fields are dropped.
	Trailer    *httpmessage.Trailer
	MaxTrailer int // limit of the trailer section, in bytes
	// Lenient is for responses. The trailer section is parsed as ParseResponse parses fields, chunk extensions
	// may contain any byte except CR and LF, and a chunk size may have 16 digits.
	Lenient bool

	state  chunkState
	left   int64  // remaining content of the current chunk, in bytes
	line   []byte // prefix of the current chunk-size line, or of the trailer section
	excess int64  // see excessive
	err    error
}

// chunkState names the element of the grammar that is expected next.
type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkContent
	chunkCR // the CR after the content of a chunk
	chunkLF
	chunkTrailer
)

const (
	// maxChunkLine limits a chunk-size line including its extensions, in bytes.
	maxChunkLine = 4 << 10
	// freeExcess and maxExcess limit the framing overhead of a body: the bytes of chunk-size lines may amount
	// to freeExcess per chunk, twice the bytes of content, and maxExcess beyond that. net/http has the same
	// limit. It permits chunks of one byte, but not a body that consists mostly of extensions.
	freeExcess = 16
	maxExcess  = 16 << 10
)

// Read implements io.Reader. It returns io.EOF at the end of the body, io.ErrUnexpectedEOF if In ends earlier,
// and an *Error if the body violates the grammar. After any other error of In, such as an expired deadline,
// Read may be called again.
func (c *ChunkedReader) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, c.err
	}
	for n == 0 && err == nil {
		n, err = c.read(p)
	}
	return n, err
}

// read decodes the buffered bytes; if none are buffered, it waits for In.
func (c *ChunkedReader) read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.In.Buffered() == 0 && c.state == chunkContent { // read directly from In, without copying through the buffer
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

// unexpected converts io.EOF within a message to io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decode decodes src into dst until either is exhausted. It returns the number of bytes written to dst and
// consumed from src.
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
				return n, used, refused("chunk data is not followed by CRLF")
			}
			c.state = (c.state + 1) % chunkTrailer // chunkLF is followed by chunkSize
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

// advance subtracts n decoded bytes from the current chunk.
func (c *ChunkedReader) advance(n int) {
	if c.left -= int64(n); c.left == 0 {
		c.state = chunkCR
	}
}

// addLine appends part to the current line of the framing; whole is set if part contains the end of the line.
// It returns io.EOF at the end of the body.
func (c *ChunkedReader) addLine(part []byte, whole bool) error {
	most := maxChunkLine
	if c.state == chunkTrailer {
		most = c.MaxTrailer
	}
	if len(c.line)+len(part) > most {
		if c.state == chunkTrailer {
			return &Error{Status: http.StatusRequestHeaderFieldsTooLarge, Reason: "the trailer section is too large"}
		}
		return refused("a chunk line is too long")
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

// begin parses a chunk-size line: RFC 9112 section 7.1. Extensions are ignored (section 7.1.1) and never
// forwarded. Neither quoted nor unquoted extensions may contain CR or LF, so that every recipient finds the
// same end of the line.
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
		return refused("the chunk size is not a hexadecimal number of at most 15 digits")
	}
	size := int64(n)
	if !c.Lenient && !httpguts.ValidHeaderFieldValue(extensions) {
		return refused("a chunk extension has a control character")
	}
	if c.excessive(len(line), size) {
		return refused("the chunk extensions and sizes are larger than the content")
	}
	c.left, c.state = size, chunkContent
	if size == 0 {
		c.state = chunkTrailer
	}
	return nil
}

// excessive reports whether the framing overhead of the chunks so far exceeds the limit; see maxExcess.
func (c *ChunkedReader) excessive(line int, content int64) bool {
	const lineEnd = len(crlf)
	c.excess = max(c.excess+int64(line+lineEnd)-freeExcess-2*min(content, maxExcess), 0)
	return c.excess > maxExcess
}

// addTrailer is called after each line of the trailer section (RFC 9112 section 7.1.2). It returns io.EOF after
// the empty line that ends the section.
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

// parseTrailer parses the trailer section; size is its length in bytes without the final empty line.
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
