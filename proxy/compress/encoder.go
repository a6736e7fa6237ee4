package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// At these levels a core compresses tens of MB per second or more, because responses wait for it.
const (
	gzipLevel     = 5
	brotliQuality = 4
	brotliWindow  = 19      // 512 KiB
	zstdWindow    = 1 << 20 // RFC 9659 allows 8 MiB
)

// encoder is the common interface of the libraries.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// encoderOf returns a constructor of encoders for a coding.
func encoderOf(coding string) func() (encoder, error) {
	switch coding {
	case Brotli:
		return func() (encoder, error) {
			return brotli.NewWriterOptions(io.Discard,
				brotli.WriterOptions{Quality: brotliQuality, LGWin: brotliWindow}), nil
		}
	case Zstd:
		return func() (encoder, error) {
			return zstd.NewWriter(io.Discard, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(zstdWindow),
				zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
		}
	default:
		return func() (encoder, error) { return gzip.NewWriterLevel(io.Discard, gzipLevel) }
	}
}

// coder is the pool of encoders of a coding.
type coder struct {
	make    func() (encoder, error)
	pool    sync.Pool // of *work
	counted func(in, out int)
}

// work is an encoder with its buffers.
type work struct {
	encoder
	out bytes.Buffer // compressed and unread
	in  [32 << 10]byte
}

// maxOut is the maximum output buffer in bytes that an encoder keeps in the pool.
const maxOut = 256 << 10

// take returns an encoder from the pool, or a new one.
func (c *coder) take() (*work, error) {
	w, _ := c.pool.Get().(*work)
	if w == nil {
		e, err := c.make()
		if err != nil {
			return nil, fmt.Errorf("compressing: %w", err)
		}
		w = &work{encoder: e}
	}
	w.Reset(&w.out)
	return w, nil
}

// give returns an encoder to the pool.
func (c *coder) give(w *work) {
	if w.out.Cap() > maxOut {
		return
	}
	w.out.Reset()
	w.Reset(io.Discard)
	c.pool.Put(w)
}

// Compress returns the body in a coding of Config. ok is false if the result is not smaller.
func (c *Compressor) Compress(coding string, body []byte) (compressed []byte, ok bool) {
	coder := &c.coders[indexOf(coding)]
	w, err := coder.take()
	if err != nil {
		return nil, false
	}
	defer coder.give(w)
	if _, err := w.Write(body); err != nil || w.Close() != nil || w.out.Len() >= len(body) {
		return nil, false
	}
	coder.counted(len(body), w.out.Len())
	return bytes.Clone(w.out.Bytes()), true
}

// reader is a body that compresses as it is read. It must be read by one goroutine at a time; Close may be
// called concurrently.
type reader struct {
	source io.ReadCloser
	coder  *coder
	length int64 // of the source in bytes, -1 if unknown
	read   int64 // bytes read from the source
	err    error // returned by Read after the compressed bytes
	closed atomic.Bool
	mu     sync.Mutex // held by Read; guards the fields above except source and closed
	work   *work      // nil before the first Read, and after Close
}

// newReader returns a body in a coding of Config. Closing it closes the source.
func (c *Compressor) newReader(coding string, source io.ReadCloser, length int64) *reader {
	return &reader{source: source, coder: &c.coders[indexOf(coding)], length: length}
}

// Read implements io.Reader. For a body of unknown length it flushes when the source has no buffered bytes, so
// that the client need not wait for later ones.
func (r *reader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.release()
	if len(p) == 0 {
		return 0, nil
	}
	if r.work == nil && r.err == nil {
		r.work, r.err = r.coder.take()
	}
	for r.err == nil && r.work.out.Len() == 0 {
		before := r.read
		r.err = r.fill()
		r.coder.counted(int(r.read-before), r.work.out.Len())
	}
	if r.work == nil || r.work.out.Len() == 0 {
		return 0, r.err
	}
	return r.work.out.Read(p)
}

// fill reads from the source once, and compresses the bytes.
func (r *reader) fill() error {
	n, err := r.source.Read(r.work.in[:])
	r.read += int64(n)
	if _, failed := r.work.Write(r.work.in[:n]); failed != nil {
		return fmt.Errorf("compressing: %w", failed)
	}
	switch {
	case errors.Is(err, io.EOF) && r.length >= 0 && r.read != r.length:
		return io.ErrUnexpectedEOF
	case errors.Is(err, io.EOF):
		if failed := r.work.Close(); failed != nil {
			return fmt.Errorf("compressing: %w", failed)
		}
		return io.EOF
	case err == nil && n > 0 && r.length < 0 && !r.hasMore():
		err = r.work.Flush()
	}
	return err
}

// hasMore reports whether the next read of the source does not block.
func (r *reader) hasMore() bool {
	source, ok := r.source.(interface{ Buffered() int })
	return ok && source.Buffered() > 0
}

// Buffered returns the number of bytes that a read returns without blocking. It must not be called during a
// Read; Close may be.
func (r *reader) Buffered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work == nil {
		return 0
	}
	return r.work.out.Len()
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.closed.Store(true)
	err := r.source.Close()
	if r.mu.TryLock() { // otherwise the current Read releases it
		r.release()
		r.mu.Unlock()
	}
	return err
}

// release returns the encoder to the pool if the body is closed; r.mu is held.
func (r *reader) release() {
	if !r.closed.Load() || r.work == nil {
		return
	}
	r.coder.give(r.work)
	r.work = nil
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
}
