package disk

import (
	"cmp"
	"errors"
	"fmt"
)

// Remove removes an object. After an error it is not found any more, but its file is
// there, and would be found after a restart; Run tries again to remove it.
func (s *Store) Remove(o *Object) error {
	n, ok := s.index.hide(o.ref, nil)
	if !ok {
		return nil
	}
	if err := s.unlink(n); err != nil {
		return fmt.Errorf("removing an object: %w", err)
	}
	return nil
}

// Each calls f for every object, in no order. f may use the store. Objects that are stored meanwhile may be left out. It
// reads every head, and so may take long. The error is the first of an object that could not be read; the others were.
func (s *Store) Each(f func(key string, head []byte)) error {
	var first error
	for number := range directories {
		err := s.load(number)
		for _, e := range s.index.shards[number].all() {
			err = cmp.Or(err, s.visit(e.ref(), f))
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (s *Store) visit(r ref, f func(key string, head []byte)) error {
	o, err := s.object(r, -1)
	switch {
	case errors.Is(err, ErrGone), errors.Is(err, ErrCorrupt):
		return nil // it is not found any more
	case err != nil:
		return fmt.Errorf("reading an object: %w", err)
	}
	f(o.Key(), o.Head())
	return nil
}
