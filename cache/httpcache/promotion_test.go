package httpcache_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
)

// restarted returns a site with a response on disk and an empty memory, and that memory.
func restarted(t *testing.T, directory, body string) (s *site, memory *table, closes func()) {
	t.Helper()
	s, closes = onDisk(t, directory)
	s.sends(200, body, fresh, `ETag: "1"`)
	s.expect(s.get(), 200, body, false)
	s.cache.Close()
	closes()
	memory = &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}
	store, closes := newDisk(t, directory)
	s = newSite(t, func(c *httpcache.Config) { c.Store, c.Disk = memory, store })
	s.fails(errOrigin)
	return s, memory, closes
}

func (s *site) isInMemory() bool {
	s.t.Helper()
	infos := s.cache.Lookup(target)
	if len(infos) != 1 {
		s.t.Fatalf("%d responses", len(infos))
	}
	return infos[0].InMemory
}

// removeFiles removes the object files of a disk without its knowledge.
func removeFiles(t *testing.T, directory string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "???", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// A small response found on disk is promoted to memory: the next hit needs no disk.
func TestPromoted(t *testing.T) {
	for size, wants := range map[int]bool{0: true, 5: true, 64 << 10: true, 64<<10 + 1: false} {
		directory := t.TempDir()
		s, _, closes := restarted(t, directory, text(size))
		if s.isInMemory() {
			t.Errorf("%d bytes are in memory before they are asked for", size)
		}
		s.expect(s.get(), 200, text(size), true)
		if got := s.isInMemory(); got != wants {
			t.Errorf("%d bytes: in memory: %v", size, got)
		}
		removeFiles(t, directory)
		if wants {
			s.expect(s.get(), 200, text(size), true)
		} else if g := s.get(); g.err == nil {
			t.Errorf("%d bytes are a hit without a file", size)
		}
		closes()
	}
}

// A full memory evicts nothing for a response used occasionally; one used often is promoted.
func TestPromotedIntoFullMemory(t *testing.T) {
	for _, found := range []bool{false, true} {
		s, memory, closes := restarted(t, t.TempDir(), "body")
		memory.isFull = true
		use := func() {
			s.t.Helper()
			if !found {
				s.expect(s.get(), 200, "body", true)
				return
			}
			r, ok := s.cache.Find(target, "", fields().Values, s.clock.now())
			if !ok {
				t.Fatal("it is not found")
			}
			content, ok := r.Open(t.Context())
			if !ok {
				t.Fatal("it cannot be opened")
			}
			content.Close()
			r.CountHit()
		}
		s.expect(s.get(), 200, "body", true)
		use()
		if s.isInMemory() {
			t.Error("an object that was used twice is in memory")
		}
		for range 8 {
			use()
		}
		if !s.isInMemory() {
			t.Error("an object that is used often is not in memory")
		}
		s.expect(s.get(), 200, "body", true)
		closes()
	}
}

// When memory has space again, a response used again is promoted.
func TestPromotedWhenThereIsRoom(t *testing.T) {
	s, memory, closes := restarted(t, t.TempDir(), "body")
	defer closes()
	memory.isFull = true
	s.expect(s.get(), 200, "body", true)
	memory.isFull = false
	s.expect(s.get(), 200, "body", true)
	if !s.isInMemory() {
		t.Error("it is not in memory")
	}
}

// A purge of a promoted response also purges the disk.
func TestPurgePromoted(t *testing.T) {
	for _, hard := range []bool{false, true} {
		directory := t.TempDir()
		s, _, closes := restarted(t, directory, "body")
		s.expect(s.get(), 200, "body", true)
		if purged := s.cache.Purge(target, hard); purged != 1 {
			t.Errorf("%d purged", purged)
		}
		closes()
		s, closes = onDisk(t, directory)
		if infos := s.cache.Lookup(target); hard && len(infos) > 0 || !hard && (len(infos) != 1 || !infos[0].Purged) {
			t.Errorf("hard %v: %+v", hard, infos)
		}
		closes()
	}
}

// A damaged small file is a miss.
func TestDamagedSmallFile(t *testing.T) {
	for _, isFull := range []bool{false, true} {
		directory := t.TempDir()
		s, memory, closes := restarted(t, directory, text(5000))
		memory.isFull = isFull
		files, _ := filepath.Glob(filepath.Join(directory, "???", "*"))
		file, err := os.OpenFile(files[0], os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte("xxxx"), 100); err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		s.sends(200, text(5000), fresh)
		s.expect(s.get(), 200, text(5000), false)
		s.expect(s.get(), 200, text(5000), true)
		closes()
	}
}
