package ftp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
)

// body is the stream of a file. It ends with io.EOF only if the server confirms the end of the transfer, and
// all expected bytes have arrived.
type body struct {
	ctx      context.Context //nolint:containedctx // its cancellation also ends the body
	cancel   context.CancelFunc
	mu       sync.Mutex // guards a Read and the fields below
	control  *control
	data     *transfer
	left     int64 // bytes left to read; -1 if unknown
	whole    bool  // the body ends where the file ends
	release  func()
	stop     func() bool // stops the AfterFunc that closes data when ctx ends
	silence  *time.Timer // read timeout: closes the data connection
	finished error       // result of the body; nil until its end
}

// newBody returns a stream of length bytes, -1 if unknown.
func (f *fetch) newBody(ctx context.Context, data *transfer, length int64, whole bool) *body {
	ctx, cancel := context.WithCancel(ctx)
	b := &body{ctx: ctx, cancel: cancel, control: f.control, data: data, left: length, whole: whole, release: f.release}
	b.stop = context.AfterFunc(ctx, func() { _ = data.Close() })
	b.silence = time.AfterFunc(f.config.Limits.Timeout, func() { _ = data.Close() })
	b.silence.Stop()
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished != nil || len(p) == 0 {
		return 0, b.finished
	}
	if b.left >= 0 && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := 0, error(nil)
	if len(p) > 0 {
		n, err = b.read(p)
	}
	if b.left >= 0 {
		b.left -= int64(n)
	}
	switch {
	case err == nil && b.left != 0:
		return n, nil
	case err == nil && b.whole: // the last bytes are returned once the server confirms the end
		err = b.expectEnd()
	case err == nil: // the rest of the file was not requested
		b.end(io.EOF)
		return n, io.EOF
	}
	if errors.Is(err, io.EOF) {
		err = b.confirm()
	}
	if b.end(err); !errors.Is(err, io.EOF) {
		return 0, err
	}
	return n, io.EOF
}

// read reads from the data connection, with the timeout of a reply.
func (b *body) read(p []byte) (int, error) {
	b.silence.Reset(b.control.timeout)
	n, err := b.data.Read(p)
	late := !b.silence.Stop()
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case b.ctx.Err() != nil:
		err = b.ctx.Err()
	case late:
		err = context.DeadlineExceeded
	}
	return n, broke("the data", err)
}

// expectEnd returns io.EOF if no further byte arrives.
func (b *body) expectEnd() error {
	n, err := b.read(make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("%w: file longer than its size", io.ErrUnexpectedEOF)
	}
	return err
}

// confirm returns io.EOF if the server confirms that the transfer is complete: RFC 959 section 5.4.
func (b *body) confirm() error {
	_ = b.data.Close() // with TLS the server waits for it
	if b.left > 0 {
		return fmt.Errorf("%w: file %d bytes shorter than its size", io.ErrUnexpectedEOF, b.left)
	}
	if b.data.done {
		return io.EOF
	}
	r, err := b.control.reply(b.ctx, "the transfer")
	switch {
	case err != nil && !errors.Is(err, resolver.ErrUnreachable):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	case !r.ok():
		return fmt.Errorf("%w: server reply %.200q", io.ErrUnexpectedEOF, r.text())
	default:
		b.data.done = true
		return io.EOF
	}
}

// end closes the data connection and releases the control connection, which is reusable only if the transfer is
// complete.
func (b *body) end(err error) {
	b.finished = err
	b.stop()
	b.silence.Stop()
	b.cancel()
	if !errors.Is(err, io.EOF) || !b.data.done {
		b.control.broken = true
	}
	_ = b.data.Close() // it was read to its end, or aborted
	b.release()
}

// Close implements io.Closer. It unblocks a concurrent Read.
func (b *body) Close() error {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished == nil {
		b.end(net.ErrClosed)
	}
	return nil
}
