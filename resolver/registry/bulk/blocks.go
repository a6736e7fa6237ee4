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
	rows  []row   // of it, where it is a table
	items []*item // where the format is foreign
	line  int64   // the number of its first line
	fault error   // why its line cannot be read
}

// blocks divides input into blocks.
type blocks struct {
	r    io.Reader
	cut  cut
	b    []byte // what was read, and is in no block yet
	line int64  // the number of its first line
	eof  bool

	taken  int64 // octets in blocks
	reread int64 // octets that are cut again because the first line begins a record without an end
}

// cut returns how long the complete records are that a text begins with, and the rows that they are in a table. line is the
// number of its first line.
type cut func(text []byte, line int64) (n int, rows []row)

func newBlocks(r io.Reader, cut cut) *blocks {
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
		if n, rows := s.cut(s.b, s.line); n > 0 {
			b := s.take(n, nil)
			b.rows = rows
			return b, nil
		}
		if s.eof || len(s.b) == cap(s.b) {
			return s.broken()
		}
	}
}

// broken returns a line that is too long, or that begins a record without an end.
func (s *blocks) broken() (block, error) {
	if n := bytes.IndexByte(s.b, '\n') + 1; n > 0 {
		if s.reread += int64(len(s.b)); s.reread > 4*s.taken+maxReread {
			return block{}, fmt.Errorf("reading the input: line %d: %w, as too often before", s.line, errOpen)
		}
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
	s.taken += int64(n)
	s.b = s.b[:copy(s.b, s.b[n:])]
	return b
}

// cutLines is the cut of input in which each line is a record.
func cutLines(text []byte, _ int64) (int, []row) { return bytes.LastIndexByte(text, '\n') + 1, nil }
