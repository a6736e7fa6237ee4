package gopher

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
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
// not speak Gopher+, and its answer is one of gopher.
func readPlusHead(in *bufio.Reader) (head plusHead, found bool) {
	for n := 1; n <= maxPlusHead; n++ {
		line, err := in.Peek(n)
		if err != nil || line[0] != '+' && line[0] != '-' {
			return plusHead{}, false
		}
		if line[n-1] != '\n' {
			continue
		}
		if head, found = parsePlusHead(string(bytes.TrimRight(line, " \r\n"))); found {
			_, _ = in.Discard(n) // it is there
		}
		return head, found
	}
	return plusHead{}, false
}

func parsePlusHead(line string) (plusHead, bool) {
	if len(line) < 2 || line[0] != '+' && line[0] != '-' || line[1] == '+' {
		return plusHead{}, false
	}
	n, err := strconv.ParseInt(line[1:], 10, 64)
	if err != nil || n < untilClose || n == 0 && line[1] == '-' {
		return plusHead{}, false
	}
	return plusHead{line[0] == '+', n}, true
}

// data returns the reader of what follows the line.
func (p plusHead) data(in *bufio.Reader) io.Reader {
	switch p.length {
	case untilDot:
		return &dotted{in: in, strict: true}
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
	if err == io.EOF && e.left > 0 { //nolint:errorlint // readers return it as it is
		err = io.ErrUnexpectedEOF
	}
	return n, err //nolint:wrapcheck // it stands for the connection
}
