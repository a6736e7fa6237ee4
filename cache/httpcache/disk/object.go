package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Object is a stored object: its head, and a reference to its body. It is immutable, holds no resource, and is
// safe for concurrent use.
type Object struct {
	store   *Store
	ref     ref
	trailer trailer
	body    []byte // nil if not read
}

// ErrGone means that an object was removed.
var ErrGone = errors.New("object removed from the disk")

// Key returns the key of the object.
func (o *Object) Key() string { return o.trailer.key }

// Head returns the head of the object, which must not be changed.
func (o *Object) Head() []byte { return o.trailer.head }

// Is reports whether two values represent the same object, whose head may have been replaced.
func (o *Object) Is(other *Object) bool { return o.ref == other.ref }

// Size returns the length of the body in bytes.
func (o *Object) Size() int64 { return o.trailer.body }

// Body returns the verified body, which must not be changed, if it was read with the object: see Read.
func (o *Object) Body() (body []byte, isRead bool) { return o.body, o.body != nil }

// ReadBody reads and verifies the whole body. It is for small bodies.
func (o *Object) ReadBody() ([]byte, error) {
	whole, err := o.store.object(o.ref, o.Size())
	if err != nil {
		return nil, fmt.Errorf("reading a body: %w", err)
	}
	o.store.index.use(o.ref, o.store.seconds())
	if whole.body != nil {
		return bytes.Clone(whole.body), nil
	}
	return o.readLong() // its trailer is longer than usualTrailer
}

// readLong is ReadBody by Open.
func (o *Object) readLong() ([]byte, error) {
	r, err := o.Open(0, -1)
	if err != nil {
		return nil, err
	}
	body := make([]byte, o.Size())
	_, err = io.ReadFull(r, body)
	return body, errors.Join(err, r.Close())
}

// wholesAtOnce is for how many objects of a key Read reads the bodies: more are seldom requested together.
const wholesAtOnce = 4

// Read returns all objects of a key, in no particular order, with verified heads; nil also if the disk fails.
// It reads bodies of at most most bytes with them, at the cost of one system call; -1 reads none. Objects with
// corrupt bodies are omitted. An object is marked as used when its body is opened or read, or when it is the
// only one of its key.
func (s *Store) Read(key string, most int64) []*Object {
	d := digestOf(key)
	if s.load(d.directory()) != nil {
		return nil
	}
	var objects []*Object
	wholes := 0
	for _, e := range s.index.shard(d).of(d, s.seconds()) {
		if wholes == wholesAtOnce {
			most = -1
		}
		o, err := s.object(e.ref(), most)
		if err != nil || o.Key() != key {
			continue
		}
		if o.body != nil {
			wholes++
			s.index.use(o.ref, s.seconds())
		}
		objects = append(objects, o)
	}
	return objects
}

// object reads an object, with a body of at most most bytes. A corrupt file is removed.
func (s *Store) object(r ref, most int64) (*Object, error) {
	o := &Object{store: s, ref: r}
	err := s.find(r, func(n name) (err error) {
		o.trailer, o.body, err = s.readObject(n, most)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}
