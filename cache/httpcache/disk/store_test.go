package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name, key string
		head      int
		body      int
	}{
		{"empty", "", 0, 0},
		{"no body", "k", 300, 0},
		{"small", "k", 300, 1024},
		{"head that is longer than usual", "k", 5000, 10},
		{"greatest head and key", strings.Repeat("k", MaxKey), MaxHead, 10},
		{"one slice", "k", 300, sliceSize},
		{"one slice and one byte", "k", 300, sliceSize + 1},
		{"several slices", "k", 300, 5*sliceSize - 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, 64*mebibyte)
			head, body := string(body(1, c.head)), body(2, c.body)
			s.wantMiss(t, c.key)
			o := mustPut(t, s.Store, c.key, head, body)
			if string(o.Head()) != head || o.Size() != int64(c.body) || o.Key() != c.key {
				t.Error("the object of Commit differs")
			}
			s.want(t, c.key, head, body)
			s.reopen(t)
			s.want(t, c.key, head, body)
			s.want(t, c.key, head, body) // verifies its body
			if got, want := s.Stats().Bytes, s.diskUsage(t); got != want {
				t.Errorf("%d bytes are counted, %d are used", got, want)
			}
		})
	}
}

// A body does not depend on how it is divided into writes and reads.
func TestPieces(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	whole := body(3, 3*sliceSize+777)
	w, err := s.Create("k")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for rest := whole; len(rest) > 0; {
		n := min(len(rest), 77_777)
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		// Concurrent reads of the written bytes.
		part := make([]byte, 1000)
		n, err := w.ReadAt(part, w.Size()-500)
		if n != 500 || !errors.Is(err, io.EOF) || !bytes.Equal(part[:n], whole[w.Size()-500:w.Size()]) {
			t.Fatalf("%d bytes, %v at %d", n, err, w.Size()-500)
		}
	}
	if _, err := w.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if n, err := w.ReadAt(make([]byte, 10), w.Size()-5); n != 5 || !errors.Is(err, io.EOF) {
		t.Errorf("after Commit: %d, %v", n, err) // not the trailer
	}
	for _, c := range []struct{ offset, length int64 }{
		{0, 1},
		{0, sliceSize},
		{sliceSize - 1, 2},
		{sliceSize, sliceSize},
		{2*sliceSize + 5, sliceSize},
		{3 * sliceSize, 777},
		{3*sliceSize + 776, 1},
		{17, 3*sliceSize + 700},
		{3*sliceSize + 777, 0},
		{5, -1},
	} {
		s.reopen(t)
		want := whole[c.offset:]
		if c.length >= 0 {
			want = want[:c.length]
		}
		for _, state := range []string{"not verified", "verified"} {
			o := s.Get("k")[0]
			if got, err := read(o, c.offset, c.length); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %s, Read: %d bytes, %v", c, state, len(got), err)
			}
			r, err := o.Open(c.offset, c.length)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if _, err := io.Copy(&got, r); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%v, %s, WriteTo: %d bytes, %v", c, state, got.Len(), err)
			}
			r.Close()
		}
	}
	o := s.Get("k")[0]
	for _, c := range []struct {
		offset, length int64
	}{{-1, 1}, {0, o.Size() + 1}, {o.Size(), 1}, {o.Size() + 1, 0}, {o.Size() + 1, -1}, {1 << 62, 1 << 62}} {
		if _, err := o.Open(c.offset, c.length); err == nil {
			t.Errorf("%v can be opened", c)
		}
	}
}

func TestVariants(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for i := range 3 {
		mustPut(t, s.Store, "k", fmt.Sprint("head ", i), body(uint64(i), 100))
	}
	heads := func() (heads []string) {
		for _, o := range s.Get("k") {
			heads = append(heads, string(o.Head()))
		}
		slices.Sort(heads)
		return heads
	}
	if got := heads(); !slices.Equal(got, []string{"head 0", "head 1", "head 2"}) {
		t.Errorf("heads %q", got)
	}
	for _, o := range s.Get("k") {
		if string(o.Head()) == "head 1" {
			if err := s.Remove(o); err != nil {
				t.Error(err)
			}
			if err := s.Remove(o); err != nil {
				t.Errorf("again: %v", err)
			}
			if _, err := o.Open(0, -1); !errors.Is(err, ErrGone) {
				t.Errorf("an object that was removed: %v", err)
			}
		}
	}
	s.reopen(t)
	if got := heads(); !slices.Equal(got, []string{"head 0", "head 2"}) {
		t.Errorf("heads %q", got)
	}
	if err := s.removeKey("k"); err != nil {
		t.Error(err)
	}
	s.wantMiss(t, "k")
	if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 || len(s.paths(t)) != 0 {
		t.Errorf("%+v, %d files", stats, len(s.paths(t)))
	}
	s.indexed(t)
	for i := range maxVariants + 10 {
		mustPut(t, s.Store, "k", fmt.Sprint(i), nil)
	}
	if n := len(s.Get("k")); n != maxVariants {
		t.Errorf("%d variants, want %d", n, maxVariants)
	}
}

func TestAbort(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for _, end := range []func(*Writer){
		func(w *Writer) { w.Abort(); w.Abort() },
		func(*Writer) {},
		func(w *Writer) { _, _ = w.Commit(make([]byte, MaxHead+1)) },
	} {
		w, err := s.Create("k")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("half of a body"))
		end(w)
		p := make([]byte, 4)
		if n, err := w.ReadAt(p, 0); n != 4 || err != nil {
			t.Errorf("the written object cannot be read: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if _, err := w.Write(p); err == nil {
			t.Error("it can be written after Abort")
		}
		if _, err := w.Commit(nil); err == nil {
			t.Error("it can be committed after Abort")
		}
		s.wantMiss(t, "k")
	}
	if used := s.diskUsage(t); used != 0 || s.Stats().Bytes != 0 {
		t.Errorf("%d bytes are used, %d are counted", used, s.Stats().Bytes)
	}
	if _, err := s.Create(strings.Repeat("k", MaxKey+1)); err == nil {
		t.Error("the key is too long")
	}
}

func TestEach(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for i := range 100 {
		mustPut(t, s.Store, key(i), fmt.Sprint(i), body(uint64(i), 10))
	}
	s.reopen(t)
	seen := map[string]bool{}
	err := s.Each(func(k string, head []byte) {
		if i, err := strconv.Atoi(string(head)); seen[k] || err != nil || k != key(i) {
			t.Errorf("%q with the head %q", k, head)
		}
		seen[k] = true
	})
	if err != nil || len(seen) != 100 {
		t.Errorf("%d objects, %v", len(seen), err)
	}
}

// Files are accessible only to their owner.
func TestModes(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	mustPut(t, s.Store, "k", "head", body(1, 10))
	w, err := s.Create("l")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	n := 0
	err = filepath.Walk(s.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(fileMode)
		if info.IsDir() {
			want = os.ModeDir | directoryMode
		}
		if n++; info.Mode() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil || n != 6 { // the root, lock, incoming and its file, a directory and its file
		t.Errorf("%d files, %v", n, err)
	}
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, directory string
		maxBytes        int64
	}{
		{"no budget", t.TempDir(), 0},
		{"a file", file, mebibyte},
		{"below a file", file + "/x", mebibyte},
	} {
		if s, err := Open(c.directory, Config{MaxBytes: c.maxBytes}); err == nil {
			t.Errorf("%s: no error", c.name)
			_ = s.Close()
		}
	}
}
