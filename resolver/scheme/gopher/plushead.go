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

// The lengths of an answer of Gopher+ that does not say how many octets it has.
const (
	untilDot   = -1
	untilClose = -2
)

// plusHead is the first line of an answer of Gopher+: Gopher+ section 2.3.
type plusHead struct {
	success bool
	length  int64
}

// maxPlusHead is how many octets its line has at most, with its end.
const maxPlusHead = 24

// readPlusHead reads the first line of an answer. found is false, and nothing is read, where the server does
// not speak Gopher+, and its answer is one of gopher. One that ends before that is known is an error.
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

// parsePlusHead parses the first line of an answer; found is false for a line that is none. The error is for a
// length that no document has.
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
			return plusHead{}, false, fmt.Errorf("%w: a document of %s octets", scheme.ErrResponse, length)
		}
	}
	return head, true, nil
}

// data returns the reader of what follows the line.
func (p plusHead) data(in *bufio.Reader) io.Reader {
	switch p.length {
	case untilDot:
		return &scheme.Dots{In: in}
	case untilClose:
		return in
	default:
		return &exactly{in: in, left: p.length}
	}
}

// exactly reads a number of octets, and ends with io.ErrUnexpectedEOF where there are fewer.
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
