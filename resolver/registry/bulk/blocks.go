package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine bounds a line of the input, in octets.
	maxLine = 1 << 20
	// blockSize is how much is read before it is parsed.
	blockSize = 256 << 10
)

var (
	errLong = fmt.Errorf("it has more than %d octets", maxLine)
	errOpen = errors.New("a quotation mark is not closed")
)

// block is a part of the input: complete records, or one line that cannot be read.
type block struct {
	text  string
	line  int64 // the number of its first line
	fault error // why its line cannot be read
}

// blocks divides input into blocks.
type blocks struct {
	r    io.Reader
	cut  func(text []byte) int // how long the complete records are that text begins with
	b    []byte                // what was read, and is in no block yet
	line int64                 // the number of its first line
	eof  bool
}

func newBlocks(r io.Reader, cut func([]byte) int) *blocks {
	return &blocks{r: r, cut: cut, b: make([]byte, 0, maxLine), line: 1}
}

// fill reads until there are n octets, or all.
func (s *blocks) fill(n int) error {
	n = min(n, cap(s.b))
	for !s.eof && len(s.b) < n {
		k, err := s.r.Read(s.b[len(s.b):cap(s.b)])
		s.b = s.b[:len(s.b)+k]
		switch {
		case err == io.EOF:
			s.eof = true
			if len(s.b) > 0 && s.b[len(s.b)-1] != '\n' {
				s.b = append(s.b, '\n') // it may grow here
			}
		case err != nil:
			return fmt.Errorf("reading the input: %w", err)
		}
	}
	return nil
}

// next returns the next block; io.EOF after the last one.
func (s *blocks) next() (block, error) {
	for want := blockSize; ; want = 2 * len(s.b) {
		if err := s.fill(want); err != nil {
			return block{}, err
		}
		if len(s.b) == 0 {
			return block{}, io.EOF
		}
		if n := s.cut(s.b); n > 0 {
			return s.take(n, nil), nil
		}
		if s.eof || len(s.b) == cap(s.b) {
			return s.broken()
		}
	}
}

// broken returns a line that is too long, or that begins a record without an end.
func (s *blocks) broken() (block, error) {
	if n := bytes.IndexByte(s.b, '\n') + 1; n > 0 {
		return s.take(n, errOpen), nil
	}
	b := block{text: string(s.b[:min(len(s.b), shown)]), line: s.line, fault: errLong}
	for {
		n := bytes.IndexByte(s.b, '\n') + 1
		if n > 0 {
			s.take(n, nil)
			return b, nil
		}
		if s.b = s.b[:0]; s.eof {
			return b, nil
		}
		if err := s.fill(1); err != nil {
			return block{}, err
		}
	}
}

// take removes the first n octets.
func (s *blocks) take(n int, fault error) block {
	b := block{text: string(s.b[:n]), line: s.line, fault: fault}
	s.line += int64(bytes.Count(s.b[:n], []byte{'\n'}))
	s.b = s.b[:copy(s.b, s.b[n:])]
	return b
}

// cutLines is the cut of input in which each line is a record.
func cutLines(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }
