package bulk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// source has sorted records. A record is valid until the next one; io.EOF is after the last.
type source interface {
	next() ([]byte, error)
}

// memory is a run in memory.
type memory struct {
	chunk *chunk
	n     int
}

func (m *memory) next() ([]byte, error) {
	if m.n == len(m.chunk.refs) {
		return nil, io.EOF
	}
	m.n++
	return m.chunk.record(m.chunk.refs[m.n-1]), nil
}

// stored is a run in a file.
type stored struct {
	r      *bufio.Reader
	record []byte
}

func (s *stored) next() ([]byte, error) {
	s.record = append(s.record[:0], make([]byte, recordHead)...)
	if _, err := io.ReadFull(s.r, s.record); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("reading the sorted input: %w", err)
	}
	n := int(binary.LittleEndian.Uint32(s.record)) + int(binary.LittleEndian.Uint32(s.record[4:]))
	if cap(s.record) < recordHead+n {
		s.record = append(make([]byte, 0, 2*(recordHead+n)), s.record...)
	}
	s.record = s.record[:recordHead+n]
	if _, err := io.ReadFull(s.r, s.record[recordHead:]); err != nil {
		return nil, fmt.Errorf("reading the sorted input: %w", err)
	}
	return s.record, nil
}

// keyOf and restOf are the parts of a record.
func keyOf(record []byte) []byte {
	return record[recordHead:][:binary.LittleEndian.Uint32(record)]
}

func restOf(record []byte) []byte {
	return record[recordHead+binary.LittleEndian.Uint32(record):]
}

// merge merges runs: a heap of those that have records, the least first.
type merge struct {
	heads []head
	begun bool
}

// head is a run with its next record.
type head struct {
	run    source
	record []byte
	key    []byte
}

func (h *head) next() (err error) {
	if h.record, err = h.run.next(); err == nil {
		h.key = keyOf(h.record)
	}
	return err
}

func newMerge(runs []source) (*merge, error) {
	m := new(merge)
	for _, r := range runs {
		h := head{run: r}
		err := h.next()
		if err == nil {
			m.heads = append(m.heads, h)
		} else if !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	for i := len(m.heads) / 2; i >= 0; i-- {
		m.sink(i)
	}
	return m, nil
}

// next implements source.
func (m *merge) next() ([]byte, error) {
	if m.begun && len(m.heads) > 0 {
		err := m.heads[0].next()
		if errors.Is(err, io.EOF) {
			last := len(m.heads) - 1
			m.heads[0] = m.heads[last]
			m.heads = m.heads[:last]
		} else if err != nil {
			return nil, err
		}
		m.sink(0)
	}
	m.begun = true
	if len(m.heads) == 0 {
		return nil, io.EOF
	}
	return m.heads[0].record, nil
}

// sink restores the order of the heap where the head i may be too great.
func (m *merge) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.heads); child++ {
			if bytes.Compare(m.heads[child].key, m.heads[least].key) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}
