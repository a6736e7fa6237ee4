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

// The levels are those at which a core compresses tens of MB a second or more: responses wait for it.
const (
	gzipLevel     = 5
	brotliQuality = 4
	brotliWindow  = 19      // 512 KiB
	zstdWindow    = 1 << 20 // RFC 9659 allows 8 MiB
)

// encoder is what the libraries have in common.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// encoderOf returns what makes encoders of a coding.
func encoderOf(coding string) func() (encoder, error) {
	switch coding {
	case Brotli:
		return func() (encoder, error) {
			return brotli.NewWriterOptions(io.Discard, brotli.WriterOptions{Quality: brotliQuality, LGWin: brotliWindow}), nil
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

// coder has the encoders of one coding that are not in use.
type coder struct {
	make    func() (encoder, error)
	pool    sync.Pool // of *work
	counted func(in, out int)
}

// work is an encoder with its memory.
type work struct {
	encoder
	out bytes.Buffer // compressed, and not read yet
	in  [32 << 10]byte
}

// maxOut bounds the memory for what is compressed that stays with an encoder.
const maxOut = 256 << 10

// take returns an encoder.
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

// give gives an encoder back.
func (c *coder) give(w *work) {
	if w.out.Cap() > maxOut {
		return
	}
	w.out.Reset()
	w.Reset(io.Discard)
	c.pool.Put(w)
}

// Compress returns a body in a coding of Config, and false where that is not smaller.
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

// reader is a body that is compressed while it is read. One goroutine reads it; Close may be called meanwhile.
type reader struct {
	source io.ReadCloser
	coder  *coder
	length int64 // of the source, -1 if unknown
	read   int64 // of the source
	err    error // what Read returns when all is read that was compressed
	closed atomic.Bool
	mu     sync.Mutex // held by Read; guards what is above but source and closed
	work   *work      // nil before the first Read, and after Close
}

// newReader returns a body in a coding of Config, which closes its source when it is closed.
func (c *Compressor) newReader(coding string, source io.ReadCloser, length int64) *reader {
	return &reader{source: source, coder: &c.coders[indexOf(coding)], length: length}
}

// Read implements io.Reader. What has come of a body of unknown length is not held back for what is still to come.
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

// fill compresses what the next read of the source gives.
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

// hasMore reports whether the next read of the source waits for nothing.
func (r *reader) hasMore() bool {
	source, ok := r.source.(interface{ Buffered() int })
	return ok && source.Buffered() > 0
}

// Buffered returns how many bytes a read gives without waiting; it must not be called while another goroutine reads. Close may be.
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
	if r.mu.TryLock() { // else the read that is under way does it
		r.release()
		r.mu.Unlock()
	}
	return err
}

// release gives the encoder back where the body is closed; r.mu is held.
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
