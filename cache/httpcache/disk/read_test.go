package disk

import (
	"bytes"
	"testing"
)

// A small body is read with its head, even after a replacement of the head; a larger body is not.
func TestRead(t *testing.T) {
	const most = 64 << 10
	for _, size := range []int{0, 1, 5000, most, most + 1, 2 * sliceSize} {
		for _, head := range []int{5, 1000, 100_000} {
			s := newStage(t, 64*mebibyte)
			whole := body(1, size)
			o := mustPut(t, s.Store, "k", "first", whole)
			if _, err := s.Replace(o, body(2, head)); err != nil {
				t.Fatal(err)
			}
			objects := s.Read("k", most)
			if len(objects) != 1 || !bytes.Equal(objects[0].Head(), body(2, head)) || objects[0].Size() != int64(size) {
				t.Fatalf("%d bytes, a head of %d: %+v", size, head, objects)
			}
			got, isRead := objects[0].Body()
			if wants := size+head <= most; wants && !isRead || size > most && isRead ||
				isRead && !bytes.Equal(got, whole) {
				t.Errorf("%d bytes, a head of %d: read %v, %d bytes", size, head, isRead, len(got))
			}
			if got, err := objects[0].ReadBody(); err != nil || !bytes.Equal(got, whole) {
				t.Errorf("%d bytes, a head of %d: ReadBody returns %d bytes, %v", size, head, len(got), err)
			}
			if _, isRead := s.Get("k")[0].Body(); isRead {
				t.Errorf("%d bytes, a head of %d: Get has read them", size, head)
			}
		}
	}
}

// Of many objects of a key, only some bodies are read.
func TestReadMany(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for i := range 3 * wholesAtOnce {
		mustPut(t, s.Store, "k", "head", body(uint64(i), 100))
	}
	read := 0
	objects := s.Read("k", mebibyte)
	for _, o := range objects {
		if _, isRead := o.Body(); isRead {
			read++
		}
	}
	if len(objects) != 3*wholesAtOnce || read != wholesAtOnce {
		t.Errorf("%d bodies of %d objects", read, len(objects))
	}
}
