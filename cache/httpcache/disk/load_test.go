package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// During the indexing, objects on disk can be found, stored, replaced and removed.
func TestServeWhileIndexIsMade(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	const n = 300
	for i := range n {
		mustPut(t, s.Store, key(i), fmt.Sprint(i), body(uint64(i), 500))
	}
	bytes := s.Stats().Bytes
	s.reopen(t)
	if s.Stats().Objects != 0 || s.Stats().Unindexed == 0 {
		t.Errorf("%+v", s.Stats())
	}
	half := func() {
		for i := range n / 2 {
			s.want(t, key(i), fmt.Sprint(i), body(uint64(i), 500))
		}
	}
	half()
	s.run(t)
	for i := range n { // while Run builds the index
		s.want(t, key(i), fmt.Sprint(i), body(uint64(i), 500))
	}
	half()
	testserver.Wait(t, "the index is made", func() bool { return s.Stats().Unindexed == 0 })
	if stats := s.Stats(); stats.Objects != n || stats.Bytes != bytes {
		t.Errorf("%+v, want %d bytes", stats, bytes)
	}
}

// Building the index pauses between batches.
func TestIndexIsMadeSlowly(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	const n = 4 * loadsAtOnce
	for number := range n {
		if err := os.Mkdir(filepath.Join(s.dir, directoryName(number)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.reopen(t)
	start := time.Now()
	s.indexed(t)
	if took := time.Since(start); took < 4*loadPause {
		t.Errorf("%d directories took %v", n, took)
	}
	s.reopen(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Run(ctx) // returns immediately
	if stats := s.Stats(); stats.Unindexed != n || s.space.indexed.Load() {
		t.Errorf("%+v", stats)
	}
}

// Nothing is stored until the used space is known.
func TestBudgetWhileIndexIsMade(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	for number := range directories {
		if err := os.Mkdir(filepath.Join(s.dir, directoryName(number)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.reopen(t)
	if _, err := s.Create("k"); !errors.Is(err, ErrIndexing) {
		t.Errorf("an object is stored, although there may be no room: %v", err)
	}
	s.run(t)
	testserver.Wait(t, "there is room", func() bool {
		_, err := put(s.Store, "k", nil, []byte("body"))
		return err == nil
	})
}

// Temporary files of a process that has ended are removed; files that do not belong to the store stay.
func TestLeftovers(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	if _, err := s.Create("k"); err != nil { // never closed
		t.Fatal(err)
	}
	_ = s.Close()
	foreign := []string{
		"README", incoming + "/README", incoming + "/xyz.tmp", "abc/README", "abcd/file", "xyz/file",
		"abc/" + directoryName(0xabc) + "-1-2",
	}
	for _, name := range foreign {
		path := filepath.Join(s.dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leftover := filepath.Join(s.dir, incoming, "1234567890abcdef.tmp")
	if err := os.WriteFile(leftover, make([]byte, 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t, 64*mebibyte)
	if used := s.Stats().Bytes; used != 2*block {
		t.Errorf("%d bytes are counted", used)
	}
	s.space.indexed.Store(true)
	w, err := s.Create("k")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s.run(t)
	testserver.Wait(t, "temporary files are removed", func() bool { return s.Stats().Bytes == 0 })
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
	if _, err := w.Commit(nil); err != nil {
		t.Errorf("a file that is being written: %v", err)
	}
	testserver.Wait(t, "the index is made", func() bool { return s.Stats().Unindexed == 0 })
	s.space.target.Store(0)
	s.space.wakeUp()
	testserver.Wait(t, "all is evicted", func() bool { return s.Stats().Objects == 0 })
	for _, name := range foreign {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			t.Error(err)
		}
	}
}
