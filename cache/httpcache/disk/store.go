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
	// MaxBytes bounds what the files take, in bytes; each takes whole blocks of 4 KiB. An
	// object takes at most a quarter of it.
	MaxBytes int64
	Now      func() time.Time
	Log      *slog.Logger
}

// Store keeps objects in the files of a directory, which no other store may use meanwhile.
// It is safe for concurrent use. A fault of the disk is never more than a miss.
type Store struct {
	files  *files
	lock   *file
	now    func() time.Time
	index  index
	space  *space
	faults faults

	buffers   sync.Pool // of *[sliceSize]byte
	chunks    sync.Pool // of *[chunkSize]byte
	leftover  []leftover
	undone    atomic.Bool  // files of objects that are not found any more could not be removed
	unindexed atomic.Int64 // directories whose contents are not known yet
	relieved  atomic.Int64 // when room was last made on a full disk: seconds since 1970

	evicted, corrupt atomic.Uint64
}

// Open opens the store in a directory, and makes the directory if need be. It starts
// nothing and reads no file. The caller must close the store.
func Open(directory string, config Config) (*Store, error) {
	if config.MaxBytes <= 0 {
		return nil, fmt.Errorf("opening the disk of the cache in %s: a budget of %d bytes holds nothing", directory, config.MaxBytes)
	}
	if err := os.MkdirAll(directory, directoryMode); err != nil { //nolint:gosec // it is of the configuration
		return nil, fmt.Errorf("making the directory of the cache: %w", err)
	}
	files, err := openFiles(directory)
	if err != nil {
		return nil, fmt.Errorf("opening the directory of the cache: %w", err)
	}
	s := &Store{
		files: files, now: config.Now, index: index{seed: maphash.MakeSeed()}, space: newSpace(config.MaxBytes),
		faults: faults{log: config.Log, now: config.Now},
	}
	if s.lock, err = files.lock(); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", directory, err), files.Close())
	}
	if err := errors.Join(s.listLeftovers(), s.listDirectories()); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the directory of the cache: %w", err), s.Close())
	}
	return s, nil
}

// Close lets another store use the directory. Run must have returned, and all writers be
// closed. Open bodies stay readable.
func (s *Store) Close() error { return errors.Join(s.files.Close(), s.lock.Close()) }

// seconds returns the time in seconds since 1970, until 2106.
func (s *Store) seconds() uint32 { return uint32(s.now().Unix()) } //nolint:gosec // as said

// Stats are the size of a store, and what has happened since it was opened.
type Stats struct {
	Objects, Bytes int64 // stored now; Bytes are also of what is being written
	MaxBytes       int64
	Unindexed      int64  // directories of 4096 whose objects do not count yet
	Evicted        uint64 // objects
	Corrupt        uint64 // files that were not as they were written
	Faults         uint64 // operations at which the disk failed
}

// Stats returns the current values.
func (s *Store) Stats() Stats {
	return Stats{
		Objects: s.index.objects.Load(), Bytes: s.space.used.Load(), MaxBytes: s.space.maxBytes,
		Unindexed: s.unindexed.Load(),
		Evicted:   s.evicted.Load(), Corrupt: s.corrupt.Load(), Faults: s.faults.count(),
	}
}
