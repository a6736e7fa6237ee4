package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
)

func TestReplace(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	body := body(1, 2*sliceSize+5)
	first := mustPut(t, s.Store, "k", "first", body)
	open, err := first.Open(0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for i, size := range []int{10, 1000, 10, 100_000, MaxHead, MaxHead, 0, 1, MaxHead, 5} {
		head := string(bytes.Repeat([]byte{byte('a' + i)}, size))
		o, err := s.Replace(first, []byte(head)) // the file name in first is outdated
		if err != nil {
			t.Fatal(err)
		}
		if string(o.Head()) != head {
			t.Errorf("%d: the returned object has another head", i)
		}
		s.want(t, "k", head, body)
		info, err := os.Stat(s.path(t))
		if err != nil {
			t.Fatal(err)
		}
		if most := int64(len(body)) + 3*sumSize + 2*maxTrailer; info.Size() > most {
			t.Errorf("%d: the file has grown to %d", i, info.Size())
		}
		if got, want := s.Stats().Bytes, s.diskUsage(t); got != want {
			t.Errorf("%d: %d bytes are counted, %d are used", i, got, want)
		}
		if i%2 == 0 {
			s.reopen(t)
			s.indexed(t)
			first = s.Get("k")[0]
			s.want(t, "k", head, body)
		}
	}
	if got, err := io.ReadAll(open); err != nil || !bytes.Equal(got, body) {
		t.Errorf("a body that was open: %d bytes, %v", len(got), err)
	}
	if _, err := s.Replace(first, make([]byte, MaxHead+1)); err == nil {
		t.Error("a head that is too long")
	}
	if err := s.Remove(first); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Replace(first, nil); !errors.Is(err, ErrGone) {
		t.Errorf("an object that was removed: %v", err)
	}
}

// After a failure, the object has its previous head.
func TestReplaceFails(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var failures failing
	s.files.failure = failures.check
	body := body(1, 5000)
	o := mustPut(t, s.Store, "k", "first", body)
	for _, operation := range []string{"open", "read", "write", "rename"} {
		before := s.Stats().Bytes
		failures.set(syscall.ENOSPC, operation)
		if _, err := s.Replace(o, make([]byte, 100_000)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", operation, err)
		}
		failures.set(nil)
		s.want(t, "k", "first", body)
		if got, want := s.Stats().Bytes, s.diskUsage(t); got != want || got != before {
			t.Errorf("%s: %d bytes are counted, %d are used, %d were before", operation, got, want, before)
		}
	}
}

// A process killed during Replace leaves the current trailer valid.
func TestReplaceHalf(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	body := body(1, 5000)
	o := mustPut(t, s.Store, "k", "first", body)
	file, err := os.OpenFile(s.path(t), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("half of a trailer"); err != nil {
		t.Fatal(err)
	}
	file.Close()
	s.want(t, "k", "first", body)
	if _, err := s.Replace(o, []byte("2nd")); err != nil {
		t.Fatal(err)
	}
	s.want(t, "k", "2nd", body)
	s.reopen(t)
	s.want(t, "k", "2nd", body)
}

// Heads are replaced while other goroutines read, replace and remove the objects.
func TestReplaceConcurrently(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	s.run(t)
	body := body(9, 3000)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 300 {
				for _, o := range s.Get("k") {
					if len(o.Head()) > 0 && !bytes.Equal(o.Head(), bytes.Repeat(o.Head()[:1], len(o.Head()))) {
						t.Error("a head is mixed")
					}
					if got, err := read(o, 0, -1); err == nil && !bytes.Equal(got, body) ||
						err != nil && !errors.Is(err, ErrGone) {
						t.Errorf("%d bytes, %v", len(got), err)
					}
					head := bytes.Repeat([]byte{byte('a' + (g+i)%26)}, 1+(g*i*37)%3000)
					if _, err := s.Replace(o, head); err != nil && !errors.Is(err, ErrGone) {
						t.Error(err)
					}
					if i%20 == g {
						if err := s.Remove(o); err != nil {
							t.Error(err)
						}
					}
				}
				if len(s.Get("k")) == 0 {
					if _, err := put(s.Store, "k", []byte(fmt.Sprint(g)), body); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if stats := s.Stats(); stats.Corrupt > 0 || stats.Failures > 0 || stats.Bytes != s.diskUsage(t) ||
		stats.Objects != int64(len(s.paths(t))) {
		t.Errorf("%+v; %d bytes are used by %d files\n%s", stats, s.diskUsage(t), len(s.paths(t)), s.log)
	}
}
