package disk

import (
	"errors"
	"fmt"
	"io/fs"
)

// Replace replaces the head of an object, and returns the changed object. It does not copy the body, and
// readers of the body are not affected. After an error or a crash, the object has either the old or the new
// head. Of concurrent calls, the last one wins.
func (s *Store) Replace(o *Object, head []byte) (*Object, error) {
	if len(head) > MaxHead {
		return nil, fmt.Errorf("replacing a head: %d bytes exceed the limit", len(head))
	}
	sh := s.index.shard(o.ref.digest)
	sh.replacing.Lock()
	defer sh.replacing.Unlock()
	replaced, err := s.replace(sh, o.ref, head)
	if err != nil {
		return nil, fmt.Errorf("replacing a head: %w", err)
	}
	return replaced, nil
}

func (s *Store) replace(sh *shard, r ref, head []byte) (*Object, error) {
	file, t, err := s.openToChange(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	e, ok := sh.current(r) // consistent with the opened file: only Replace renames
	if !ok {
		return nil, ErrGone
	}
	start := e.length - t.size()
	t.head = head
	at := place(t, start, e.length)
	renamed := e.name
	renamed.length = at + t.size()
	if growth := onDisk(renamed.length) - onDisk(e.length); growth > 0 {
		if err := errors.Join(s.space.checkSize(renamed.length), s.space.reserve(growth)); err != nil {
			return nil, err
		}
	}
	if err = s.writeTrailer(file, t, at); err == nil {
		err = s.renameObject(sh, e.name, renamed)
	}
	if err != nil {
		// Bytes behind the current trailer are ignored.
		if growth := onDisk(renamed.length) - onDisk(e.length); growth > 0 {
			s.space.release(growth)
		}
		return nil, errors.Join(err, file.truncate(e.length))
	}
	if err := file.truncate(renamed.length); err != nil {
		s.failures.report("truncating a file", err)
	}
	if shrinkage := onDisk(e.length) - onDisk(renamed.length); shrinkage > 0 {
		s.space.release(shrinkage)
	}
	return &Object{store: s, ref: r, trailer: t}, nil
}

// place returns the offset for a new trailer: behind the sums if it fits before the current trailer, otherwise
// behind that. So a file grows by at most two trailers.
func place(t trailer, start, end int64) int64 {
	if t.contentSize()+t.size() <= start {
		return t.contentSize()
	}
	return end
}

func (s *Store) writeTrailer(file *file, t trailer, at int64) error {
	err := s.files.check("write")
	if err == nil {
		_, err = file.WriteAt(t.append(nil), at)
	}
	if err != nil {
		s.failed("writing a head", err)
	}
	return err
}

// renameObject renames a file whose trailer is replaced, and its entry.
func (s *Store) renameObject(sh *shard, from, to name) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e := sh.at(from.ref())
	if e == nil || e.removed {
		return ErrGone
	}
	switch err := s.files.rename(from.path(), to.path()); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone // it is being evicted
	case err != nil:
		s.failed("renaming a file", err)
		return err
	}
	e.name, e.used = to, max(e.used, s.seconds())
	return nil
}
