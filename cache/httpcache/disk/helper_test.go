package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

const mebibyte = 1 << 20

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// stage is a store with its directory, clock and log.
type stage struct {
	*Store
	dir   string
	clock *clock
	log   *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func logTo(b *lockedBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func newStage(t testing.TB, maxBytes int64) *stage {
	t.Helper()
	s := &stage{dir: filepath.Join(t.TempDir(), "cache"), clock: newClock(), log: &lockedBuffer{}}
	s.open(t, maxBytes)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *stage) open(t testing.TB, maxBytes int64) {
	t.Helper()
	var err error
	s.Store, err = Open(s.dir, Config{MaxBytes: maxBytes, Now: s.clock.Now, Log: logTo(s.log)})
	if err != nil {
		t.Fatal(err)
	}
}

// reopen simulates a restart.
func (s *stage) reopen(t testing.TB) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t, s.space.maxBytes)
}

// indexed builds the index.
func (s *stage) indexed(t testing.TB) {
	t.Helper()
	s.rebuild(context.Background())
	if stats := s.Stats(); stats.Unindexed != 0 {
		t.Fatalf("%+v", stats)
	}
}

// run runs Run until the test ends.
func (s *stage) run(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	t.Cleanup(func() { cancel(); testserver.Within(t, "Run", func() { <-done }) })
}

// body returns bytes determined by a seed.
func body(seed uint64, size int) []byte {
	b := make([]byte, size)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), 1})
	_, _ = random.Read(b)
	return b
}

func put(s *Store, key string, head, body []byte) (*Object, error) {
	w, err := s.Create(key)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	return w.Commit(head)
}

func mustPut(t testing.TB, s *Store, key, head string, body []byte) *Object {
	t.Helper()
	o, err := put(s, key, []byte(head), body)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func read(o *Object, offset, length int64) ([]byte, error) {
	r, err := o.Open(offset, length)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// Get returns all objects of a key, without their bodies.
func (s *Store) Get(key string) []*Object { return s.Read(key, -1) }

// removeKey removes all objects of a key.
func (s *Store) removeKey(key string) (err error) {
	for _, o := range s.Get(key) {
		err = errors.Join(err, s.Remove(o))
	}
	return err
}

// want checks that a key has one object, with this head and body.
func (s *stage) want(t testing.TB, key, head string, body []byte) {
	t.Helper()
	objects := s.Get(key)
	if len(objects) != 1 {
		t.Fatalf("%q has %d objects, want 1\n%s", key, len(objects), s.log)
	}
	o := objects[0]
	if o.Key() != key || string(o.Head()) != head || o.Size() != int64(len(body)) {
		t.Errorf("%q has the key %q, the head %.40q and %d bytes; want the head %.40q and %d", key, o.Key(), o.Head(),
			o.Size(), head, len(body))
	}
	got, err := read(o, 0, -1)
	if err != nil || !bytes.Equal(got, body) {
		t.Errorf("%q: %d bytes, %v; want %d", key, len(got), err, len(body))
	}
}

func (s *stage) wantMiss(t testing.TB, key string) {
	t.Helper()
	if objects := s.Get(key); len(objects) > 0 {
		t.Errorf("%q has %d objects, want none", key, len(objects))
	}
}

// paths returns the paths of the object files.
func (s *stage) paths(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, "???", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// path returns the path of the only object file.
func (s *stage) path(t testing.TB) string {
	t.Helper()
	paths := s.paths(t)
	if len(paths) != 1 {
		t.Fatalf("there are %d files, want 1", len(paths))
	}
	return paths[0]
}

// diskUsage returns the space used by all files, by the count of the system, without directories.
func (s *stage) diskUsage(t testing.TB) (used int64) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			used += max(stat.Blocks*512, onDisk(info.Size())) // a file just written may have no blocks yet
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}

func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// failing makes operations of a store fail.
type failing struct {
	mu     sync.Mutex
	errors map[string]error // by operation
}

func (f *failing) set(err error, operations ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errors = map[string]error{}
	for _, o := range operations {
		f.errors[o] = err
	}
}

func (f *failing) check(operation string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.errors[operation]
}

func lines(text, part string) (n int) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

func key(i int) string { return fmt.Sprintf("GET http://example.org/%d", i) }
