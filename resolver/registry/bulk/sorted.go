package bulk

import (
	"context"
	"io"

	"github.com/urnd/urnd/resolver/registry"
)

// SortedReader iterates the names of a file in the order of an export: prefixes first, then names, each in byte
// order. It is not safe for concurrent use.
type SortedReader struct {
	run   *run
	units *recordMerger
	ahead *mergedRecord
	err   error // returned after ahead
}

// Sort reads and sorts a file like Run, without writing. Invalid lines are rejected. The caller closes the
// result.
func (i *Import) Sort(ctx context.Context, from io.Reader) (*SortedReader, error) {
	r := i.newRun()
	if err := r.sort(ctx, from); err != nil {
		return nil, err
	}
	s := &SortedReader{run: r, units: &recordMerger{sorted: r.sorted, reject: r.reject}}
	s.advance()
	return s, nil
}

// Close releases the temporary files.
func (s *SortedReader) Close() error { return s.run.sorted.Close() }

func (s *SortedReader) advance() {
	s.ahead = nil
	var next mergedRecord
	if next, s.err = s.units.next(); s.err == nil {
		s.ahead = &next
	}
}

// Next returns the last version of the next name in the file. over, if not nil, applies the line to a
// registered record: fields that the file omits keep their values. The error is io.EOF after the last name.
func (s *SortedReader) Next() (e registry.Entry, over func(registry.Record) registry.Record, err error) {
	if s.ahead == nil {
		return e, nil, s.err
	}
	u := s.ahead
	for s.advance(); s.ahead != nil && s.ahead.entry.Key == u.entry.Key; s.advance() {
		u = s.ahead
	}
	over = u.override
	if u.full() {
		over = nil
	}
	if e = u.entry; u.fields.has(fieldMember) {
		e.Metadata = overrideMembers("", e.Metadata)
	}
	return e, over, nil
}
