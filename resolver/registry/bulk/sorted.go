package bulk

import (
	"context"
	"io"

	"github.com/urnd/urnd/resolver/registry"
)

// Sorted are the names of a file in the order of an export: prefixes first, each in the order of the bytes of their names. It is not safe
// for concurrent use.
type Sorted struct {
	run   *run
	units *units
	ahead *unit
	err   error // that comes after ahead
}

// Sort reads and sorts a file, as Run does, and changes nothing. Lines that are not valid are rejected. The caller closes what it returns.
func (i *Import) Sort(ctx context.Context, from io.Reader) (*Sorted, error) {
	r := i.newRun()
	if err := r.sort(ctx, from); err != nil {
		return nil, err
	}
	s := &Sorted{run: r, units: &units{sorted: r.sorted, reject: r.reject}}
	s.advance()
	return s, nil
}

// Close ends it.
func (s *Sorted) Close() error { return s.run.sorted.Close() }

func (s *Sorted) advance() {
	s.ahead = nil
	var next unit
	if next, s.err = s.units.next(); s.err == nil {
		s.ahead = &next
	}
}

// Next returns the last version of the next name that the file has, and what returns its record where a registry has another one: what the
// file does not say stays as it is there. The error is io.EOF after the last one.
func (s *Sorted) Next() (e registry.Entry, over func(registry.Record) registry.Record, err error) {
	if s.ahead == nil {
		return e, nil, s.err
	}
	u := s.ahead
	for s.advance(); s.ahead != nil && s.ahead.entry.Key == u.entry.Key; s.advance() {
		u = s.ahead
	}
	over = u.over
	if u.whole() {
		over = nil
	}
	if e = u.entry; u.said.has(fieldMember) {
		e.Metadata = overMembers("", e.Metadata)
	}
	return e, over, nil
}
