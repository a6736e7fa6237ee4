package scheme

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Dots reads a text that ends by a line with a dot alone, and where each line that begins with a dot has another one before: RFC
// 3977 section 3.1.1, RFC 1436 appendix. It takes these away. The octets are else as they come, as those of net/textproto are
// not, and lines may have any length. It must not be used concurrently.
type Dots struct {
	In *bufio.Reader
	// More is for a protocol whose servers often do neither: the text ends also where the connection does; a line with a dot
	// alone that something follows, as More reports, is part of it; and a line that begins with a single dot shows that the
	// server adds none. nil is for one where nothing else ends the text, which is then io.ErrUnexpectedEOF without its end.
	More func() (bool, error)

	rest   []byte // of the buffer of In
	inside bool   // of a line that is longer than the buffer
	plain  bool   // the server adds no dots
	err    error
}

// Read implements io.Reader.
func (d *Dots) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		d.next()
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// Ended reports whether all was read, up to the end of the text.
func (d *Dots) Ended() bool { return len(d.rest) == 0 && errors.Is(d.err, io.EOF) }

// Skip drops the lines that have come already as a whole, and waits for none.
func (d *Dots) Skip() {
	d.rest = nil
	for d.err == nil && d.hasLine() {
		d.next()
		d.rest = nil
	}
}

// hasLine reports whether the next line has come.
func (d *Dots) hasLine() bool {
	buffered, _ := d.In.Peek(d.In.Buffered()) // what is there
	return bytes.IndexByte(buffered, '\n') >= 0
}

// next reads a line, or a part of it.
func (d *Dots) next() {
	part, err := d.In.ReadSlice('\n')
	begins := !d.inside
	if d.inside = errors.Is(err, bufio.ErrBufferFull); d.inside {
		err = nil
	}
	if d.More == nil && err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		part = nil // who parses what comes must not take a part of a line for all of it
	}
	d.rest, d.err = part, err
	if begins && len(part) > 0 && part[0] == '.' {
		d.dot(part)
	}
}

// dot looks at the beginning of a line that begins with a dot.
func (d *Dots) dot(part []byte) {
	isStrict := d.More == nil
	line := bytes.TrimRight(part, "\r\n")
	switch {
	case len(line) == 1 && isStrict && part[len(part)-1] == '\n':
		d.rest, d.err = nil, io.EOF
	case len(line) == 1 && !isStrict:
		d.last(bytes.Clone(part)) // the buffer changes
	case len(line) > 1 && line[1] == '.' && !d.plain:
		d.rest = part[1:]
	case !isStrict:
		d.plain = true
	}
}

// last looks at what follows a line with a dot alone.
func (d *Dots) last(part []byte) {
	follows := false
	if d.err == nil {
		follows, d.err = d.More()
	}
	switch {
	case follows:
		d.rest, d.plain = part, true
	case d.err == nil:
		d.rest, d.err = nil, io.EOF
	default:
		d.rest = nil
	}
}
