package disk

import (
	"cmp"
	"errors"
	"fmt"
)

// Remove removes an object. After an error the object is not found any more, but its file remains and would be
// found after a restart; Run retries the removal.
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

// Each calls f for every object, in no particular order. f may use the store. Objects stored during the call
// may be missing. It reads every head, and so may take long. It returns the first error of an unreadable
// object, after visiting the others.
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
		return nil // removed in the meantime
	case err != nil:
		return fmt.Errorf("reading an object: %w", err)
	}
	f(o.Key(), o.Head())
	return nil
}
