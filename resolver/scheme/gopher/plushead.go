package gopher

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// The lengths of a Gopher+ response of unknown size: it ends at a line of a single dot, or where the connection
// is closed.
const (
	untilDot   = -1
	untilClose = -2
)

// plusHead is the status line of a Gopher+ response: Gopher+ section 2.3.
type plusHead struct {
	success bool
	length  int64
}

// maxPlusHead is the maximum size of the status line in bytes, including its end.
const maxPlusHead = 24

// readPlusHead reads the status line of a response. found is false, and nothing is consumed, if the server does
// not speak Gopher+ and sends a plain gopher response. It is an error if the response ends before that is
// decided.
func readPlusHead(in *bufio.Reader) (head plusHead, found bool, err error) {
	for n := 1; n <= maxPlusHead; n++ {
		line, err := in.Peek(n)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return plusHead{}, false, err
		}
		switch last := line[n-1]; {
		case last == '\n':
			if head, found, err = parsePlusHead(string(bytes.TrimRight(line, " \r\n"))); found {
				_, err = in.Discard(n)
			}
			return head, found, err
		case n == 1 && last != '+' && last != '-', bytes.IndexByte([]byte("+-0123456789 \r"), last) < 0:
			return plusHead{}, false, nil
		}
	}
	return plusHead{}, false, nil
}

// parsePlusHead parses a status line; found is false for any other line. The error is for an invalid length.
func parsePlusHead(line string) (head plusHead, found bool, err error) {
	if len(line) < 2 || line[0] != '+' && line[0] != '-' {
		return plusHead{}, false, nil
	}
	head.success = line[0] == '+'
	switch length := line[1:]; {
	case length == "-1":
		head.length = untilDot
	case length == "-2":
		head.length = untilClose
	case strings.Trim(length, "0123456789") != "":
		return plusHead{}, false, nil
	default:
		if head.length, found = scheme.ParseSize(length); !found {
			return plusHead{}, false, fmt.Errorf("%w: document of %s bytes", scheme.ErrInvalidResponse, length)
		}
	}
	return head, true, nil
}

// data returns a reader of the data after the status line.
func (p plusHead) data(in *bufio.Reader) io.Reader {
	switch p.length {
	case untilDot:
		return &scheme.DotReader{In: in}
	case untilClose:
		return in
	default:
		return &exactly{in: in, left: p.length}
	}
}

// exactly reads a fixed number of bytes, and ends with io.ErrUnexpectedEOF if there are fewer.
type exactly struct {
	in   io.Reader
	left int64
}

// Read implements io.Reader.
func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.in.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
