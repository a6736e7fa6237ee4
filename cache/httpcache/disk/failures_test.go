package disk

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// A body is sent to a client while it is stored, and the disk becomes full in between. The client receives the
// whole body, and so does a second client that reads from the spool.
func TestDiskFullWhileStreaming(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var failures failing
	s.files.failure = failures.check
	mustPut(t, s.Store, "old", "head", body(2, 100))
	w, err := s.Create("k")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var client bytes.Buffer
	whole := body(1, 10*64<<10)
	for i := range 10 {
		part := whole[i*64<<10:][:64<<10]
		if i == 5 {
			failures.set(syscall.ENOSPC, "write", "create", "rename")
		}
		_, err := w.Write(part)
		if wants := i >= 5; errors.Is(err, syscall.ENOSPC) != wants {
			t.Errorf("part %d: %v", i, err)
		}
		_, _ = client.Write(part)
	}
	stored := make([]byte, 5*64<<10)
	if _, err := w.ReadAt(stored, 0); err != nil || !bytes.Equal(stored, whole[:len(stored)]) {
		t.Errorf("the stored object cannot be read: %v", err)
	}
	if _, err := w.Commit(nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Commit: %v", err)
	}
	if !bytes.Equal(client.Bytes(), whole) {
		t.Error("the client has another body")
	}
	for range 1000 {
		if _, err := put(s.Store, "k", nil, nil); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("put: %v", err)
		}
	}
	s.wantMiss(t, "k")
	s.want(t, "old", "head", body(2, 100))
	if n := lines(s.log.String(), "disk cache operation failed"); n != 1 {
		t.Errorf("%d lines in the log", n)
	}
	s.clock.add(2 * time.Minute)
	_, _ = put(s.Store, "k", nil, nil)
	if log := s.log.String(); lines(log, "disk cache operation failed") != 2 ||
		!strings.Contains(log, "unlogged=1000") {
		t.Errorf("log: %s", log)
	}
	failures.set(nil)
	mustPut(t, s.Store, "k", "head", whole)
	s.want(t, "k", "head", whole)
}

// If the disk is full before the budget is used up, some objects are evicted, but not all.
func TestDiskFullEvicts(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var failures failing
	s.files.failure = failures.check
	for i := range 100 {
		mustPut(t, s.Store, key(i), "head", body(uint64(i), 3000))
		s.clock.add(time.Second)
	}
	s.run(t)
	failures.set(syscall.ENOSPC, "write")
	for range 100 {
		_, _ = put(s.Store, "k", nil, []byte("body"))
	}
	// 1/32 of the space, and one more object if the failed write still counts at that time.
	testserver.Wait(t, "some objects are evicted", func() bool { return s.Stats().Evicted >= 3 })
	if n := s.Stats().Evicted; n > 4 {
		t.Errorf("%d objects are evicted", n)
	}
	s.wantMiss(t, key(0))
	s.want(t, key(99), "head", body(99, 3000))
	s.clock.add(reliefPause * time.Second)
	_, _ = put(s.Store, "k", nil, []byte("body"))
	testserver.Wait(t, "more objects are evicted", func() bool { return s.Stats().Evicted >= 6 })
	// From here on there is space, because less is used than the disk holds.
	failures.set(nil)
	for i := range 50 {
		mustPut(t, s.Store, key(100+i), "", []byte("body"))
	}
	testserver.Wait(t, "less is used than before", func() bool { return s.Stats().Bytes <= 97*block })
	s.endRelief()
	if s.space.target.Load() == s.space.usual() {
		t.Error("the whole budget may be used too soon")
	}
	s.clock.add(reliefTime * time.Second)
	s.endRelief()
	if s.space.target.Load() != s.space.usual() {
		t.Error("the whole budget may not be used again")
	}
}

// A read-only directory costs only the hits of new objects.
func TestReadOnly(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var failures failing
	s.files.failure = failures.check
	o := mustPut(t, s.Store, "k", "head", body(1, 5000))
	mustPut(t, s.Store, "l", "head", body(2, 5000))
	failures.set(syscall.EROFS, "create", "write", "rename", "remove")
	if _, err := s.Create("new"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Create: %v", err)
	}
	if _, err := s.Replace(o, []byte("new")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Replace: %v", err)
	}
	s.want(t, "k", "head", body(1, 5000))
	// Eviction cannot remove the object either, so it stays.
	s.space.target.Store(1)
	if s.evict(t.Context()) {
		t.Error("evict could not remove a file, and does not say so")
	}
	s.want(t, "k", "head", body(1, 5000))
	// A removed object is not found any more.
	if err := s.Remove(o); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Remove: %v", err)
	}
	s.wantMiss(t, "k")
	if err := s.removeKey("l"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("removeKey: %v", err)
	}
	s.wantMiss(t, "l")
	if got, want := s.Stats().Bytes, s.diskUsage(t); got != want {
		t.Errorf("%d bytes are counted, %d are used", got, want)
	}
	s.removeHidden()
	failures.set(nil)
	s.removeHidden()
	if stats := s.Stats(); stats.Objects != 0 || stats.Bytes != 0 || len(s.paths(t)) != 0 {
		t.Errorf("%+v", stats)
	}
}

// An unreadable disk is a miss, and nothing is removed, because the failure may be temporary.
func TestUnreadable(t *testing.T) {
	s := newStage(t, 64*mebibyte)
	var failures failing
	s.files.failure = failures.check
	o := mustPut(t, s.Store, "k", "head", body(1, 5000))
	failures.set(syscall.EIO, "read")
	s.wantMiss(t, "k")
	failures.set(syscall.EMFILE, "open")
	s.wantMiss(t, "k")
	if _, err := o.Open(0, -1); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Open: %v", err)
	}
	if err := s.Each(func(string, []byte) {}); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("Each: %v", err)
	}
	failures.set(nil)
	s.want(t, "k", "head", body(1, 5000))
	s.reopen(t)
	s.files.failure = failures.check
	failures.set(syscall.EIO, "list")
	s.wantMiss(t, "k")
	if err := s.Each(func(string, []byte) {}); !errors.Is(err, syscall.EIO) {
		t.Errorf("Each: %v", err)
	}
	if _, err := put(s.Store, "k", nil, []byte("another")); err == nil {
		t.Error("an object is stored in a directory that cannot be read")
	}
	failures.set(nil)
	s.want(t, "k", "head", body(1, 5000))
	if s.Stats().Corrupt != 0 {
		t.Errorf("%+v", s.Stats())
	}
	r, err := s.Get("k")[0].Open(0, -1)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if _, err := io.ReadAll(r); err == nil {
		t.Error("a body that is closed can be read")
	}
}
