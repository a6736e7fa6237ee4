package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// wantRemoved checks that an object was found corrupt and removed.
func (s *stage) wantRemoved(t *testing.T, what string) {
	t.Helper()
	s.wantMiss(t, "k")
	if n := len(s.paths(t)); n != 0 {
		t.Errorf("%s: %d files are left", what, n)
	}
	if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 || stats.Corrupt == 0 {
		t.Errorf("%s: %+v", what, stats)
	}
}

// readAll reads the object of a key; nil if it is missing.
func (s *stage) readAll(key string) (head, body []byte) {
	for _, o := range s.Get(key) {
		if b, err := read(o, 0, -1); err == nil {
			return o.Head(), b
		}
	}
	return nil, nil
}

// atOnce is readAll for an object read together with its body.
func (s *stage) atOnce(key string) (head, body []byte) {
	for _, o := range s.Read(key, mebibyte) {
		if b, isRead := o.Body(); isRead {
			return o.Head(), b
		}
	}
	return nil, nil
}

// Every bit of a file is covered by a checksum.
func TestFlippedBits(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	content := body(1, 60)
	mustPut(t, s.Store, "k", "a head", content)
	whole, err := os.ReadFile(s.path(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) * 8 * 2 {
		bit, read := n/2, s.readAll
		if n%2 == 1 {
			read = s.atOnce
		}
		if err := s.removeKey("k"); err != nil {
			t.Fatal(err)
		}
		mustPut(t, s.Store, "k", "a head", content)
		damaged := bytes.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(s.path(t), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if head, body := read("k"); head != nil || body != nil {
			t.Errorf("bit %d of %d: head %q, body %q", bit, len(whole)*8, head, body)
		}
		s.wantRemoved(t, fmt.Sprint("bit ", bit))
	}
}

func TestDamagedFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	for _, c := range []struct {
		name   string
		damage func(path string) error
	}{
		{"truncated by one byte", func(path string) error { return truncate(path, -1) }},
		{"truncated to nothing", func(path string) error { return os.Truncate(path, 0) }},
		{"zeros", func(path string) error { return zero(path, 0) }},
		{"body of zeros", func(path string) error { return zero(path, 300) }},
		{
			"replaced by a directory",
			func(path string) error { return replaceBy(path, func() error { return os.Mkdir(path, 0o700) }) },
		},
		{"replaced by a named pipe", func(path string) error {
			return replaceBy(path, func() error { return syscall.Mkfifo(path, 0o600) })
		}},
		{"replaced by a symbolic link that leads out", func(path string) error {
			if err := os.Rename(path, outside); err != nil {
				return err
			}
			return os.Symlink(outside, path)
		}},
		{"replaced by a symbolic link to nothing", func(path string) error {
			return replaceBy(path, func() error { return os.Symlink("nothing", path) })
		}},
		{"removed", os.Remove},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, read := range []func(*stage, string) (head, body []byte){(*stage).readAll, (*stage).atOnce} {
				s := newStage(t, 64*mebibyte)
				mustPut(t, s.Store, "k", "a head", body(1, 5000))
				path := s.path(t)
				if err := c.damage(path); err != nil {
					t.Fatal(err)
				}
				if head, body := read(s, "k"); head != nil || body != nil {
					t.Errorf("head %q, %d bytes", head, len(body))
				}
				s.wantMiss(t, "k")
				if _, err := os.Lstat(path); !os.IsNotExist(err) {
					t.Errorf("the file is still there: %v", err)
				}
				if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 {
					t.Errorf("%+v", stats)
				}
				_ = os.RemoveAll(outside)
			}
		})
	}
}

func truncate(path string, by int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()+by)
}

// zero overwrites a file with zeros, except for some bytes at its end.
func zero(path string, left int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	clear(b[:len(b)-left])
	return os.WriteFile(path, b, 0o600)
}

func replaceBy(path string, make func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return make()
}

// TestRenamedFiles gives a file the name of another key, of another object, and of a longer file.
func TestRenamedFiles(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	mustPut(t, s.Store, "k", "a head", body(1, 5000))
	n, ok := parseName(filepath.Base(s.path(t)))
	if !ok {
		t.Fatal("the name cannot be parsed")
	}
	for _, c := range []struct {
		name, key string
		to        name
		miss      bool
	}{
		{"another key", "other", name{digestOf("other"), n.id, n.length}, true},
		{"a longer file", "k", name{n.digest, n.id, n.length + 1}, true},
		{"a shorter file", "k", name{n.digest, n.id, n.length - 1}, true},
		{"another id", "k", name{n.digest, n.id + 1, n.length}, false}, // not an error
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, 64*mebibyte)
			mustPut(t, s.Store, "k", "a head", body(1, 5000))
			to := filepath.Join(s.dir, c.to.path().String())
			_ = os.Mkdir(filepath.Dir(to), 0o700)
			if err := os.Rename(s.path(t), to); err != nil {
				t.Fatal(err)
			}
			s.reopen(t)
			if !c.miss {
				s.want(t, "k", "a head", body(1, 5000))
				return
			}
			s.wantMiss(t, c.key)
			s.wantRemoved(t, c.name)
		})
	}
}

// Corruption of a later slice aborts the reading before the first byte of that slice.
func TestDamagedSlice(t *testing.T) {
	for _, how := range []string{"Read", "WriteTo"} {
		s := newStage(t, 64*mebibyte)
		whole := body(1, 3*sliceSize)
		mustPut(t, s.Store, "k", "a head", whole)
		file, err := os.OpenFile(s.path(t), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte{whole[2*sliceSize+9] + 1}, 2*sliceSize+9); err != nil {
			t.Fatal(err)
		}
		file.Close()
		r, err := s.Get("k")[0].Open(5, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got bytes.Buffer
		if how == "Read" {
			_, err = io.Copy(&got, struct{ io.Reader }{r})
		} else {
			_, err = io.Copy(&got, r)
		}
		if !errors.Is(err, ErrCorrupt) || !bytes.Equal(got.Bytes(), whole[5:2*sliceSize]) {
			t.Errorf("%s: %d bytes, %v", how, got.Len(), err)
		}
		s.wantRemoved(t, how)
		if !strings.Contains(s.log.String(), "checksum mismatch in slice 2") {
			t.Errorf("log: %s", s.log)
		}
	}
}
