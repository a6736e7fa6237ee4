package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Object is a stored object: its head, and where its body is. It is immutable, holds no
// resource, and is safe for concurrent use.
type Object struct {
	store   *Store
	ref     ref
	trailer trailer
}

// ErrGone means that an object was removed.
var ErrGone = errors.New("the object was removed from the disk")

// Key returns the key of the object.
func (o *Object) Key() string { return o.trailer.key }

// Head returns the head of the object, which must not be changed.
func (o *Object) Head() []byte { return o.trailer.head }

// Is reports whether two values are of the same object, which may have got another head meanwhile.
func (o *Object) Is(other *Object) bool { return o.ref == other.ref }

// Size returns the length of the body, in octets.
func (o *Object) Size() int64 { return o.trailer.body }

// Get returns all objects of a key, in no order, with verified heads; nil also if the disk
// fails. An object counts as used when its body is opened, or when it is the only one here.
func (s *Store) Get(key string) []*Object {
	d := digestOf(key)
	if s.load(d.directory()) != nil {
		return nil
	}
	var objects []*Object
	for _, e := range s.index.shard(d).of(d, s.seconds()) {
		if o, err := s.object(e.ref()); err == nil && o.Key() == key {
			objects = append(objects, o)
		}
	}
	return objects
}

// object reads an object. A file that is not as it was written is removed.
func (s *Store) object(r ref) (*Object, error) {
	file, t, err := s.open(r, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	return &Object{store: s, ref: r, trailer: t}, nil
}

// tries is how often a file is read: Replace may have renamed it, and written over the
// trailer since.
const tries = 4

// open opens the file of an object and reads its trailer.
func (s *Store) open(r ref, flags int) (*file, trailer, error) {
	var e entry
	var err error
	for range tries {
		var ok bool
		if e, ok = s.index.shard(r.digest).current(r); !ok {
			return nil, trailer{}, ErrGone
		}
		var file *file
		var t trailer
		if file, t, err = s.openFile(e.name, flags); err == nil {
			return file, t, nil
		}
	}
	return nil, trailer{}, s.discardIfLost(e.name, err)
}

// discardIfLost removes a file if an error says that it is of no use, and returns the error.
func (s *Store) discardIfLost(n name, err error) error {
	switch {
	case errors.Is(err, ErrCorrupt):
		s.corrupt.Add(1)
		s.faults.report("verifying a file", fmt.Errorf("%s: %w", n.path(), err))
		_ = s.discard(n) // reported
	case errors.Is(err, fs.ErrNotExist): // someone else has removed it
		_ = s.discard(n) // reported
		err = ErrGone
	default:
		s.faults.report("reading a file", err)
	}
	return err
}

// openFile opens a file and reads its trailer.
func (s *Store) openFile(n name, flags int) (*file, trailer, error) {
	file, err := s.files.open(n.path(), flags)
	if err != nil {
		return nil, trailer{}, err
	}
	t, err := s.readTrailer(file, n)
	if err != nil {
		return nil, trailer{}, errors.Join(err, file.Close())
	}
	return file, t, nil
}

// usualTrailer is what is read of a file at first: most heads fit.
const usualTrailer = 2 << 10

func (s *Store) readTrailer(file *file, n name) (trailer, error) {
	if err := s.files.check("read"); err != nil {
		return trailer{}, err
	}
	b := make([]byte, min(n.length, usualTrailer))
	if err := readAt(file, b, n.length-int64(len(b))); err != nil {
		return trailer{}, err
	}
	need, err := trailerSize(b[len(b)-footerSize:])
	if err != nil {
		return trailer{}, err
	}
	if need > n.length {
		return trailer{}, fmt.Errorf("%w: its %d octets do not hold a trailer of %d", ErrCorrupt, n.length, need)
	}
	if need > int64(len(b)) {
		b = make([]byte, need)
		if err := readAt(file, b, n.length-need); err != nil {
			return trailer{}, err
		}
	}
	t, err := parseTrailer(b[int64(len(b))-need:], n.length)
	if err == nil && digestOf(t.key) != n.digest {
		err = fmt.Errorf("%w: it has the name of another key", ErrCorrupt)
	}
	return t, err
}
