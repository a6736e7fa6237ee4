package disk

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// changes returns changes that another process may make to the file of an object whose first byte differs from
// that of whole. Where possible, they restore the modification time.
func changes(t *testing.T, whole []byte) map[string]func(path string) {
	inPlace := func(path string, at int64) {
		info, err := os.Stat(path)
		must(t, err)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = file.WriteAt([]byte{whole[at] + 1}, at)
		must(t, errors.Join(err, file.Close()))
		must(t, os.Chtimes(path, time.Time{}, info.ModTime()))
	}
	copied := func(path string) string { // with another byte, but the same length and time
		data, err := os.ReadFile(path)
		must(t, err)
		info, err := os.Stat(path)
		must(t, err)
		data[len(whole)-1]++
		other := filepath.Join(t.TempDir(), "other")
		must(t, os.WriteFile(other, data, 0o600))
		must(t, os.Chtimes(other, time.Time{}, info.ModTime()))
		return other
	}
	return map[string]func(string){
		"the first byte":       func(path string) { inPlace(path, 0) },
		"the last byte":        func(path string) { inPlace(path, int64(len(whole))-1) },
		"a byte in between":    func(path string) { inPlace(path, sliceSize+1) },
		"truncated":            func(path string) { must(t, os.Truncate(path, int64(len(whole))-1)) },
		"truncated to nothing": func(path string) { must(t, os.Truncate(path, 0)) },
		"replaced":             func(path string) { must(t, os.Rename(copied(path), path)) },
		"replaced by a link": func(path string) {
			other := copied(path)
			must(t, os.Remove(path))
			must(t, os.Link(other, path))
		},
		"replaced by a symlink": func(path string) {
			other := copied(path)
			must(t, os.Remove(path))
			must(t, os.Symlink(other, path))
		},
		"truncated, and made as long again": func(path string) {
			info, err := os.Stat(path)
			must(t, err)
			must(t, os.Truncate(path, 1))
			must(t, os.Truncate(path, info.Size()))
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// age pretends that the only file of a store was last changed that long ago.
func (s *stage) age(t *testing.T, by time.Duration) {
	var state unix.Stat_t // a file is renamed slightly later than it is written
	must(t, unix.Stat(s.path(t), &state))
	s.clock.mu.Lock()
	s.clock.now = time.Unix(state.Ctim.Unix()).Add(by)
	s.clock.mu.Unlock()
}

// ages returns the ages of new files, whose change may not show in their times, and of older files.
func ages() map[bool]time.Duration { return map[bool]time.Duration{true: settled / 2, false: settled} }

// Verified bytes that were then changed on disk are never returned, as a whole or in part.
func TestChangedBetweenReads(t *testing.T) {
	whole := body(1, 2*sliceSize+9)
	for name, change := range changes(t, whole) {
		for isNew, age := range ages() {
			s := newStage(t, 64*mebibyte)
			o := mustPut(t, s.Store, "k", "a head", whole)
			s.age(t, age)
			s.want(t, "k", "a head", whole) // verifies it
			change(s.path(t))
			got, err := read(o, 0, -1)
			if err == nil || !bytes.HasPrefix(whole, got) {
				t.Errorf("%s, new %v: %d bytes, %v", name, isNew, len(got), err)
			}
			s.wantMiss(t, "k")
		}
	}
}

// Reading a body whose file is changed fails before the first byte that differs.
func TestChangedWhileRead(t *testing.T) {
	whole := body(1, 2*sliceSize+9)
	for name, change := range changes(t, whole) {
		for _, verified := range []bool{true, false} {
			s := newStage(t, 64*mebibyte)
			o := mustPut(t, s.Store, "k", "a head", whole)
			s.age(t, time.Hour)
			if verified {
				s.want(t, "k", "a head", whole)
			}
			path := s.path(t)
			r, err := o.Open(0, -1)
			must(t, err)
			var got bytes.Buffer
			_, err = io.CopyN(&got, r, 100) // within the first slice
			must(t, err)
			change(path)
			_, err = io.Copy(&got, r)
			must(t, r.Close())
			complete := err == nil && got.Len() == len(whole)
			if !bytes.HasPrefix(whole, got.Bytes()) || err == nil && !complete {
				t.Errorf("%s, verified %v: %d bytes, %v", name, verified, got.Len(), err)
			}
			if _, body := s.readAll("k"); body != nil {
				t.Errorf("%s, verified %v: it is read again", name, verified)
			}
		}
	}
}

// Reads return only bodies as they were stored, even while another process changes the file continuously.
func TestChangedAllTheTime(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(1, sliceSize+9)
	for range 20 {
		mustPut(t, s.Store, "k", "a head", whole)
		s.age(t, time.Hour)
		file, err := os.OpenFile(s.path(t), os.O_RDWR, 0)
		must(t, err)
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			defer file.Close()
			for char := whole[5]; ; char++ {
				select {
				case <-stop:
					return
				default:
					_, _ = file.WriteAt([]byte{char}, 5) // any value but the original is an error
				}
			}
		}()
		for range 20 {
			if _, got := s.readAll("k"); got != nil && !bytes.Equal(got, whole) {
				t.Error("a body that was changed")
			}
		}
		close(stop)
		<-stopped
		must(t, s.removeKey("k"))
	}
}

// Replacing the head and removing the object during a read do not count as changes of the body.
func TestOwnChangesWhileRead(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(1, 3*sliceSize+9)
	o := mustPut(t, s.Store, "k", "a head", whole)
	s.age(t, time.Hour)
	r, err := o.Open(0, -1)
	must(t, err)
	defer r.Close()
	var got bytes.Buffer
	for i := range 30 {
		_, err := io.CopyN(&got, r, 100_000)
		must(t, err)
		if o, err = s.Replace(o, body(uint64(i), 100*i)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.Remove(o))
	if _, err := io.Copy(&got, r); err != nil || !bytes.Equal(got.Bytes(), whole) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if stats := s.Stats(); stats.Corrupt != 0 {
		t.Errorf("%+v", stats)
	}
}

// A file is verified once: if it is neither new nor changed, its checksums are not read again.
func TestVerifiedOnce(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(1, 2*sliceSize)
	o := mustPut(t, s.Store, "k", "a head", whole)
	for isNew, age := range ages() {
		s.age(t, age)
		s.want(t, "k", "a head", whole)
		r, err := o.Open(0, -1)
		must(t, err)
		if verified := r.(*reader).checked == nil; verified == isNew {
			t.Errorf("new %v: verified %v", isNew, verified)
		}
		must(t, r.Close())
	}
}

// Reading a body while it is written returns the written bytes or an error.
func TestChangedWhileWritten(t *testing.T) {
	whole := body(1, 3*chunkSize+9)
	for _, at := range []int64{0, chunkSize, 3*chunkSize + 8} {
		s := newStage(t, 64*mebibyte)
		w, err := s.Create("k")
		must(t, err)
		for _, part := range [][]byte{whole[:100], whole[100:]} {
			_, err = w.Write(part)
			must(t, err)
		}
		path := filepath.Join(s.dir, w.path.String())
		if got, err := io.ReadAll(io.NewSectionReader(w, 50, int64(len(whole)))); err != nil ||
			!bytes.Equal(got, whole[50:]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = file.WriteAt([]byte{whole[at] + 1}, at)
		must(t, errors.Join(err, file.Close()))
		got, err := io.ReadAll(io.NewSectionReader(w, 0, int64(len(whole))))
		if !errors.Is(err, ErrCorrupt) || !bytes.Equal(got, whole[:at/chunkSize*chunkSize]) {
			t.Errorf("byte %d: %d bytes, %v", at, len(got), err)
		}
		_, err = w.Commit(nil)
		must(t, errors.Join(err, w.Close()))
		if _, got := s.readAll("k"); got != nil {
			t.Errorf("byte %d: it is a hit", at)
		}
	}
}

// Bytes sent but not yet read by the client do not change with the file, as they would with sendfile.
func TestChangedInFlight(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(1, 128<<10) // fits into the buffers of the kernel
	o := mustPut(t, s.Store, "k", "a head", whole)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	must(t, err)
	defer client.Close()
	server, err := listener.Accept()
	must(t, err)
	r, err := o.Open(0, -1)
	must(t, err)
	_, err = io.Copy(server, r)
	must(t, errors.Join(err, r.Close(), server.Close()))
	file, err := os.OpenFile(s.path(t), os.O_RDWR, 0)
	must(t, err)
	_, err = file.Write(make([]byte, len(whole)))
	must(t, errors.Join(err, file.Close()))
	if got, err := io.ReadAll(client); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
