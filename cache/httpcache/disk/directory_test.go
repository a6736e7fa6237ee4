package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Removing a directory that is kept open loses its objects, and nothing else.
func TestDirectoryIsRemoved(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for i := range 3 {
		o := mustPut(t, s.Store, "k", "head", body(1, 5000))
		s.want(t, "k", "head", body(1, 5000))
		must(t, os.RemoveAll(filepath.Dir(s.path(t))))
		if i == 1 {
			must(t, os.RemoveAll(filepath.Join(s.dir, incoming)))
		}
		if _, err := s.Replace(o, []byte("another")); !errors.Is(err, ErrGone) {
			t.Errorf("Replace: %v", err)
		}
		s.wantMiss(t, "k")
		if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 {
			t.Errorf("%+v", stats)
		}
	}
}

// At most mostKept directories stay open; the others are opened for each use.
func TestKeptDirectories(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	s.files.mostKept = 3
	const n = 30
	for range 2 {
		for i := range n {
			mustPut(t, s.Store, key(i), fmt.Sprint(i), body(uint64(i), 500))
			s.want(t, key(i), fmt.Sprint(i), body(uint64(i), 500))
		}
		for i := range n {
			must(t, s.removeKey(key(i)))
		}
	}
	open := 0
	for i := range s.files.directories {
		if s.files.directories[i].kept != nil {
			open++
		}
	}
	if kept := s.files.kept.Load(); open != 3 || kept != 3 {
		t.Errorf("%d directories are open, and %d are counted", open, kept)
	}
	must(t, s.Close())
	if err := s.files.remove(path{5, "file"}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a store that is closed: %v", err)
	}
	s.open(t, 64*mebibyte)
}

// A directory that is a symbolic link is not used.
func TestDirectoryThatLeadsOut(t *testing.T) {
	for _, number := range []int{digestOf("k").directory(), incomingNumber} {
		s := newStage(t, 64*mebibyte)
		outside := t.TempDir()
		must(t, os.Symlink(outside, filepath.Join(s.dir, directoryName(number))))
		if _, err := put(s.Store, "k", nil, []byte("body")); err == nil {
			t.Errorf("%s: an object is stored", directoryName(number))
		}
		if files, err := os.ReadDir(outside); err != nil || len(files) > 0 {
			t.Errorf("%s: there are %d files outside, %v", directoryName(number), len(files), err)
		}
	}
}

// TestOperations counts disk operations: a file is written under a temporary name and renamed, and a small file
// is read with one call.
func TestOperations(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var done []string
	var stored *Object
	s.files.failure = func(operation string) error {
		done = append(done, operation)
		return nil
	}
	for _, c := range []struct {
		name string
		do   func()
		want []string
	}{
		{
			"a fill", func() { stored = mustPut(t, s.Store, "k", "head", body(1, 5000)) },
			[]string{"create", "write", "write", "rename"},
		},
		{
			"another one", func() { mustPut(t, s.Store, "l", "head", body(1, 5000)) },
			[]string{"create", "write", "write", "rename"},
		},
		{"a hit", func() { _ = s.Read("k", mebibyte) }, []string{"open", "read"}},
		{"a miss", func() { _ = s.Read("m", mebibyte) }, nil},
		{"a removal", func() { must(t, s.Remove(stored)) }, []string{"remove"}},
	} {
		done = nil
		if c.do(); !slices.Equal(done, c.want) {
			t.Errorf("%s: %q, want %q", c.name, done, c.want)
		}
	}
}
