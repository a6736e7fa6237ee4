package disk

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// maxVariants is the maximum number of objects of a key: beyond it, the least recently used is removed.
const maxVariants = 64

// Writer writes one object. One goroutine calls Write and then Commit or Abort; others may call ReadAt
// concurrently until Close. An error means only that the object is not stored: the bytes written before can
// still be read.
type Writer struct {
	store   *Store
	file    *file
	path    path
	key     string
	id      uint64
	written atomic.Int64
	sums    sums
	taken   int64 // bytes of the budget
	err     error // why it ended; nil while writing

	mu     sync.Mutex
	chunks sums // checksums for ReadAt, because the file may have been changed by another process
}

var errEnded = errors.New("object already committed or aborted")

// Create starts an object. The caller must close the writer.
func (s *Store) Create(key string) (*Writer, error) {
	if len(key) > MaxKey {
		return nil, fmt.Errorf("storing an object: key of %d bytes too long", len(key))
	}
	if err := s.space.refusal(); err != nil {
		return nil, fmt.Errorf("storing an object: %w", err)
	}
	w := &Writer{store: s, key: key, sums: sums{each: sliceSize}, chunks: sums{each: chunkSize}}
	w.id = uint64(s.seconds())<<32 | uint64(rand.Uint32()) //nolint:gosec // not secret; no name is overwritten
	w.path = temporaryPath(rand.Uint64())                  //nolint:gosec // not secret
	var err error
	if w.file, err = s.files.create(w.path); err != nil {
		s.failed("creating a file", err)
		return nil, fmt.Errorf("storing an object: %w", err)
	}
	return w, nil
}

// Write appends to the body. After an error it returns the same error again.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.append(p)
	w.sums.write(p[:n])
	w.mu.Lock()
	w.chunks.write(p[:n])
	w.mu.Unlock()
	w.written.Add(int64(n))
	if err != nil {
		w.err = fmt.Errorf("storing a body: %w", err)
	}
	return n, w.err
}

// Reserve takes the space for a body of a length from the budget, so that later writes do not fail for lack of
// it.
func (w *Writer) Reserve(length int64) error {
	if length > maxBody {
		return ErrTooLarge
	}
	return w.take(length)
}

// append appends to the file if the budget permits it.
func (w *Writer) append(p []byte) (int, error) {
	length := w.written.Load() + int64(len(p))
	if length > maxBody {
		return 0, ErrTooLarge
	}
	if err := w.take(length); err != nil {
		return 0, err
	}
	return w.writeFile(p)
}

func (w *Writer) writeFile(p []byte) (n int, err error) {
	if err = w.store.files.check("write"); err == nil {
		n, err = w.file.Write(p)
	}
	if err != nil {
		w.store.failed("writing a file", err)
	}
	return n, err
}

// take takes the space for a file of a length from the budget.
func (w *Writer) take(length int64) error {
	if err := w.store.space.checkSize(length); err != nil {
		return err
	}
	n := onDisk(length)
	if n <= w.taken {
		return nil
	}
	if err := w.store.space.reserve(n - w.taken); err != nil {
		return err
	}
	w.taken = n
	return nil
}

// Size returns the number of written bytes of the body.
func (w *Writer) Size() int64 { return w.written.Load() }

// ReadAt reads the written bytes of the body, and returns io.EOF at their end. ErrCorrupt means that the file
// differs from what was written.
func (w *Writer) ReadAt(p []byte, offset int64) (int, error) {
	left := w.written.Load() - offset
	if offset < 0 || left <= 0 {
		return 0, io.EOF
	}
	wanted := p[:min(int64(len(p)), left)]
	chunk, free := w.store.chunk()
	defer free()
	for n := 0; n < len(wanted); {
		at := offset + int64(n)
		read, err := w.readChunk(chunk, at/chunkSize)
		if err != nil {
			return n, fmt.Errorf("verifying the written body: %w", err)
		}
		n += copy(wanted[n:], read[at%chunkSize:])
	}
	if len(wanted) < len(p) {
		return len(wanted), io.EOF
	}
	return len(wanted), nil
}

// readChunk reads and verifies the written part of a chunk.
func (w *Writer) readChunk(b []byte, number int64) ([]byte, error) {
	w.mu.Lock()
	sum, size := w.chunks.of(number)
	w.mu.Unlock()
	b = b[:size]
	if err := readAt(w.file, b, number*chunkSize); err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli()) != sum {
		return nil, fmt.Errorf("%w: checksum mismatch of chunk %d", ErrCorrupt, number)
	}
	return b, nil
}

// Commit completes the object, which Read returns from then on. The store may retain head.
func (w *Writer) Commit(head []byte) (*Object, error) {
	if w.err != nil {
		return nil, w.err
	}
	o, err := w.commit(head)
	if err != nil {
		w.Abort()
		return nil, fmt.Errorf("storing an object: %w", err)
	}
	w.err = errEnded
	return o, nil
}

func (w *Writer) commit(head []byte) (*Object, error) {
	if len(head) > MaxHead {
		return nil, fmt.Errorf("head of %d bytes too long", len(head))
	}
	s, sums := w.store, w.sums.bytes()
	t := trailer{body: w.Size(), key: w.key, head: head, sumOfSums: crc32.Checksum(sums, castagnoli())}
	end := t.append(sums)
	n := name{digest: digestOf(w.key), id: w.id, length: t.body + int64(len(end))}
	if err := w.take(n.length); err != nil {
		return nil, err
	}
	// Before the rename: otherwise load would find the file, and add would add it again.
	if err := s.load(n.digest.directory()); err != nil {
		return nil, err
	}
	if _, taken := s.index.shard(n.digest).current(n.ref()); taken {
		return nil, errors.New("file name collision")
	}
	if _, err := w.writeFile(end); err != nil {
		return nil, err
	}
	if err := s.files.rename(w.path, n.path()); err != nil {
		s.failed("renaming a file", err)
		return nil, err
	}
	s.index.add(entry{name: n, used: s.seconds()})
	s.limitVariants(n.digest)
	return &Object{store: s, ref: n.ref(), trailer: t}, nil
}

// limitVariants removes objects of a key with too many objects.
func (s *Store) limitVariants(d digest) {
	entries := s.index.shard(d).of(d, 0)
	for len(entries) > maxVariants {
		oldest := 0
		for i, e := range entries {
			if e.used < entries[oldest].used {
				oldest = i
			}
		}
		if s.discard(entries[oldest].name) == nil {
			s.evicted.Add(1)
		}
		entries = append(entries[:oldest], entries[oldest+1:]...)
	}
}

// Abort removes the written bytes. After Commit it does nothing.
func (w *Writer) Abort() {
	if errors.Is(w.err, errEnded) {
		return
	}
	w.err = errEnded
	if err := w.store.files.remove(w.path); err != nil {
		w.store.failures.report("removing a temporary file", err)
		return // its space stays taken from the budget
	}
	w.store.space.release(w.taken)
}

// Close closes the file, and aborts the object if it was not committed.
func (w *Writer) Close() error {
	w.Abort()
	return w.file.Close()
}
