package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Object is a stored object: its head, and where its body is. It is immutable, holds no
// resource, and is safe for concurrent use.
type Object struct {
	store   *Store
	ref     ref
	trailer trailer
	body    []byte // nil where it was not read
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

// Body returns the verified body, which must not be changed, where it was read with the object: see Read.
func (o *Object) Body() (body []byte, isRead bool) { return o.body, o.body != nil }

// ReadBody reads the body at once, and verifies it. It is for small ones.
func (o *Object) ReadBody() ([]byte, error) {
	whole, err := o.store.object(o.ref, o.Size())
	if err != nil {
		return nil, fmt.Errorf("reading a body: %w", err)
	}
	o.store.index.use(o.ref, o.store.seconds())
	if whole.body != nil {
		return bytes.Clone(whole.body), nil
	}
	return o.readLong() // its heads are long
}

// readLong is ReadBody by way of Open.
func (o *Object) readLong() ([]byte, error) {
	r, err := o.Open(0, -1)
	if err != nil {
		return nil, err
	}
	body := make([]byte, o.Size())
	_, err = io.ReadFull(r, body)
	return body, errors.Join(err, r.Close())
}

// wholesAtOnce is of how many objects of a key Read reads the bodies: more are seldom asked for together.
const wholesAtOnce = 4

// Read returns all objects of a key, in no order, with verified heads; nil also if the disk fails. Bodies of at most some
// bytes are read with them, by one system call more than opening and closing the file; -1 reads none. Objects whose
// bodies are found corrupt are left out. An object counts as used when its body is opened or read, or when it is the only
// one here.
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

// object reads an object, with a body of at most some octets. A file that is not as it was written is removed.
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
