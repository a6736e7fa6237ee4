package nntp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// dotReader reads the block of data of a response, without the dots that are stuffed, up to the line
// that ends it: RFC 3977 section 3.1.1. The octets are else as they come, lines may have any length. A
// block that does not end is io.ErrUnexpectedEOF.
type dotReader struct {
	reader  *bufio.Reader
	wait    func() error // called before each read of the connection; nil is not
	rest    []byte       // of the buffer of reader
	inLine  bool         // rest is followed by more of its line
	hasLast bool         // the last line was read
}

// Read implements io.Reader.
func (d *dotReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if err := d.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// hasLine reports whether the next line needs no read of the connection.
func (d *dotReader) hasLine() bool {
	buffered, _ := d.reader.Peek(d.reader.Buffered()) // what is there
	return bytes.IndexByte(buffered, '\n') >= 0
}

// fill reads a line, or a part of a long one.
func (d *dotReader) fill() error {
	if d.hasLast {
		return io.EOF
	}
	if d.wait != nil && !d.hasLine() {
		if err := d.wait(); err != nil {
			return err
		}
	}
	line, err := d.reader.ReadSlice('\n')
	isPart := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !isPart {
		return broken("reading a response", err)
	}
	if !d.inLine && line[0] == '.' {
		line = line[1:]
		if text := string(line); text == "\r\n" || text == "\n" {
			d.hasLast = true
			return io.EOF
		}
	}
	d.rest, d.inLine = line, isPart
	return nil
}

// skip reads what needs no read of the connection.
func (d *dotReader) skip() {
	for !d.hasLast && d.hasLine() {
		if err := d.fill(); err != nil {
			return // it is the last line
		}
	}
}
