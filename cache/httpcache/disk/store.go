package disk

import (
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Config is the configuration of a store. All fields are required.
type Config struct {
	// MaxBytes limits the space of the files, in bytes; each occupies whole blocks of 4 KiB. An object takes at
	// most a quarter of it.
	MaxBytes int64
	Now      func() time.Time
	Log      *slog.Logger
}

// Store stores objects in the files of a directory, which no other store may use at the same time. It is safe
// for concurrent use. A disk failure costs at most a cache hit.
type Store struct {
	files    *files
	lock     *file
	now      func() time.Time
	index    index
	space    *space
	failures failures

	buffers   sync.Pool // of *[sliceSize]byte
	chunks    sync.Pool // of *[chunkSize]byte
	leftover  []leftover
	undone    atomic.Bool  // the files of some hidden objects could not be removed
	unindexed atomic.Int64 // number of directories not indexed yet
	relieved  atomic.Int64 // when space was last freed on a full disk: seconds since 1970

	evicted, corrupt atomic.Uint64
}

// Open opens the store in a directory, which it creates if missing. It starts no goroutine and reads no file.
// The caller must call Close.
func Open(directory string, config Config) (*Store, error) {
	if config.MaxBytes <= 0 {
		return nil, fmt.Errorf("opening the disk cache in %s: budget of %d bytes too small", directory, config.MaxBytes)
	}
	if err := os.MkdirAll(directory, directoryMode); err != nil { //nolint:gosec // a configured name
		return nil, fmt.Errorf("creating the cache directory: %w", err)
	}
	files, err := openFiles(directory)
	if err != nil {
		return nil, fmt.Errorf("opening the cache directory: %w", err)
	}
	s := &Store{
		files: files, now: config.Now, index: index{seed: maphash.MakeSeed()}, space: newSpace(config.MaxBytes),
		failures: failures{log: config.Log, now: config.Now},
	}
	if s.lock, err = files.lock(); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", directory, err), files.Close())
	}
	if err := errors.Join(s.listLeftovers(), s.listDirectories()); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the cache directory: %w", err), s.Close())
	}
	return s, nil
}

// Close unlocks the directory for another store. Run must have returned, and all writers must be closed. Open
// bodies stay readable.
func (s *Store) Close() error { return errors.Join(s.files.Close(), s.lock.Close()) }

// seconds returns the time in seconds since 1970, until 2106.
func (s *Store) seconds() uint32 { return uint32(s.now().Unix()) } //nolint:gosec // until 2106

// Stats are the size of a store, and its counters since it was opened.
type Stats struct {
	Objects, Bytes int64 // current; Bytes includes objects being written
	MaxBytes       int64
	Unindexed      int64  // directories, of 4096, whose objects are not counted yet
	Evicted        uint64 // number of objects
	Corrupt        uint64 // number of corrupt files
	Failures       uint64 // number of failed operations
}

// Stats returns the current values.
func (s *Store) Stats() Stats {
	return Stats{
		Objects: s.index.objects.Load(), Bytes: s.space.used.Load(), MaxBytes: s.space.maxBytes,
		Unindexed: s.unindexed.Load(),
		Evicted:   s.evicted.Load(), Corrupt: s.corrupt.Load(), Failures: s.failures.count(),
	}
}
