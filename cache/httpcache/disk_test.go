package httpcache_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// newDisk opens a store in a directory, and returns it with a function that closes it.
func newDisk(t *testing.T, directory string) (store *disk.Store, closes func()) {
	t.Helper()
	store, err := disk.Open(directory,
		disk.Config{MaxBytes: 256 << 20, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { store.Run(ctx) })
	testserver.Wait(t, "the index is made", func() bool {
		w, err := store.Create("probe")
		if err != nil {
			return false
		}
		return w.Close() == nil
	})
	return store, func() {
		cancel()
		running.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// onDisk returns a site whose cache has a disk.
func onDisk(t *testing.T, directory string) (s *site, closes func()) {
	t.Helper()
	store, closes := newDisk(t, directory)
	return newSite(t, func(c *httpcache.Config) { c.Disk = store }), closes
}

// text returns n pseudo-random bytes.
func text(n int) string {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(b)
	return string(b)
}

// A body too large for memory is streamed to disk and from disk, also in ranges. Stored responses survive a
// restart, including the changes by validations.
func TestDisk(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	large := text(9 << 20)
	s.sends(200, large, "Cache-Control: max-age=60", `ETag: "1"`)
	s.expect(s.get(), 200, large, false)
	s.expect(s.get(), 200, large, true)
	s.expect(s.get("Range: bytes=5000000-5000009"), 206, large[5000000:5000010], true)
	small := &httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target + "?small"}
	s.sends(200, "small", "Cache-Control: max-age=60", `ETag: "2"`)
	s.expect(s.request(small), 200, "small", false)
	s.clock.advance(2 * time.Minute)
	s.sends(304, "", "Cache-Control: max-age=600", "X-New: 1", `ETag: "1"`)
	s.expect(s.get(), 200, large, false)
	s.expect(s.get(), 200, large, true)
	closes()

	s, closes = onDisk(t, directory)
	s.clock.advance(3 * time.Minute)
	s.fails(errOrigin)
	g := s.get()
	s.expect(g, 200, large, true)
	if g.field("X-New") != "1" || g.field("Age") != "60" {
		t.Errorf("X-New %s, Age %s", g.field("X-New"), g.field("Age"))
	}
	s.expect(s.request(small), 200, "small", true) // stale, and the origin is unreachable
	if purged := s.cache.Purge(target, false); purged != 1 {
		t.Errorf("%d purged", purged)
	}
	closes()

	s, closes = onDisk(t, directory)
	defer closes()
	s.fails(errOrigin)
	if g := s.get(); g.err == nil {
		t.Errorf("a purged response is used after a restart: %s", g.Outcome.Status("urnd"))
	}
}

// A response is written to disk once: it is not found there, and rewritten with another head, while it is being
// stored.
func TestWrittenOnce(t *testing.T) {
	for _, size := range []int{0, 5, 100_000, 9 << 20} { // the last is too large for memory
		directory := t.TempDir()
		s, closes := onDisk(t, directory)
		s.sends(200, text(size), fresh)
		for range 2 {
			s.expect(s.get(), 200, text(size), false)
			s.cache.Purge(target, true)
		}
		s.expect(s.get(), 200, text(size), false)
		s.cache.Close()
		files, err := filepath.Glob(filepath.Join(directory, "???", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%d bytes: the files %q, %v", size, files, err)
		}
		content, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if heads := strings.Count(string(content[size:]), "Cache-Control"); heads != 1 {
			t.Errorf("%d bytes: the file has %d heads", size, heads)
		}
		closes()
	}
}

// A damaged file is a miss, even if it was a hit before.
func TestDamagedDisk(t *testing.T) {
	for _, hits := range []int{0, 2} {
		directory := t.TempDir()
		s, closes := onDisk(t, directory)
		large := text(5 << 20)
		s.sends(200, large, "Cache-Control: max-age=60")
		s.expect(s.get(), 200, large, false)
		for range hits {
			s.expect(s.get(), 200, large, true)
		}
		if damaged := damage(t, directory); damaged != 1 {
			t.Errorf("%d files are damaged", damaged)
		}
		s.expect(s.get(), 200, large, false)
		s.expect(s.get(), 200, large, true)
		closes()
	}
}

// damage corrupts the large files of a directory, and returns their number.
func damage(t *testing.T, directory string) (damaged int) {
	t.Helper()
	err := filepath.Walk(directory, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.Size() < 5<<20 {
			return err
		}
		damaged++
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteAt([]byte(strings.Repeat("x", 100)), 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return damaged
}

// TestBytesOnDisk: a field value is stored byte by byte, even if it is not UTF-8 (RFC 9110 section 5.5).
func TestBytesOnDisk(t *testing.T) {
	for _, body := range []string{"small", text(5 << 20)} {
		directory := t.TempDir()
		s, closes := onDisk(t, directory)
		s.sends(200, body, "Cache-Control: max-age=60", "ETag: \"\xfc\"")
		s.expect(s.get(), 200, body, false)
		s.cache.Close()
		closes()
		s, closes = onDisk(t, directory)
		if g := s.get(); g.field("Etag") != "\"\xfc\"" || g.body != body {
			t.Errorf("ETag %q, %d bytes", g.field("Etag"), len(g.body))
		}
		s.cache.Close()
		closes()
	}
}

// A purge for which the disk cannot be read reports that it is not done, and stays effective.
func TestPurgeWithoutDisk(t *testing.T) {
	s, closes := onDisk(t, t.TempDir())
	s.sends(200, "one", "Cache-Control: max-age=60", `ETag: "1"`)
	s.expect(s.get(), 200, "one", false)
	closes()
	if _, done := s.cache.BeginPurge(httpcache.Selection{}, true)(); done {
		t.Error("the purge says that it is done")
	}
	s.sends(200, "two", "Cache-Control: no-store")
	s.expect(s.get(), 200, "two", false)
}

// The age of a response on disk is unknown if it was received by a clock that was ahead: it is validated before its next
// use, and purged.
func TestDiskAfterClockWasAhead(t *testing.T) {
	for name, purges := range map[string]bool{"validated": false, "purged": true} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			start := func(ahead time.Duration) (s *site, end func()) {
				store, closes := newDisk(t, directory)
				s = newSite(t, func(c *httpcache.Config) { c.Disk = store })
				s.clock.advance(ahead)
				return s, func() { s.cache.Close(); closes() }
			}
			s, end := start(24 * time.Hour)
			s.sends(200, "one", fresh, `ETag: "1"`, "Cache-Tag: t")
			s.expect(s.get(), 200, "one", false)
			end()
			s, end = start(0)
			defer end()
			if purges {
				if n := s.cache.PurgeAll(httpcache.Selection{Tag: "t"}, true); n != 1 {
					t.Errorf("%d purged", n)
				}
			}
			s.sends(200, "two", fresh, `ETag: "2"`)
			s.expect(s.get(), 200, "two", false)
			if validates := s.last().header.Has("If-None-Match"); validates == purges {
				t.Errorf("validates: %t", validates)
			}
			s.expect(s.get(), 200, "two", true)
		})
	}
}
