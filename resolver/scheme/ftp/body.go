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

// body is the stream of a file. It ends well only where the server says that all was sent, and where as
// much was sent as there should be.
type body struct {
	ctx      context.Context //nolint:containedctx // it also ends the body
	cancel   context.CancelFunc
	mu       sync.Mutex // of a Read, and of all below
	control  *control
	data     *transfer
	left     int64 // what is still to come; -1 where it is not known
	whole    bool  // the end of the file is the end of the body
	release  func()
	stop     func() bool // of closing when ctx ends
	silence  *time.Timer // closes the connection where nothing comes for long
	finished error       // nil until the end
}

// newBody returns a stream of length octets, -1 where that is not known.
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
	case err == nil && b.whole: // the last octets are given once the server has said that they are
		err = b.expectEnd()
	case err == nil: // the rest is not wanted
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

// read reads from the data connection, not for longer than the time of a reply.
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

// expectEnd returns io.EOF where no octet comes any more.
func (b *body) expectEnd() error {
	n, err := b.read(make([]byte, 1))
	if n > 0 {
		return fmt.Errorf("%w: the file is longer than its size", io.ErrUnexpectedEOF)
	}
	return err
}

// confirm returns io.EOF where the server says that all was sent: RFC 959 section 5.4.
func (b *body) confirm() error {
	_ = b.data.Close() // the server waits for it, in TLS
	if b.left > 0 {
		return fmt.Errorf("%w: the file is shorter than its size by %d octets", io.ErrUnexpectedEOF, b.left)
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
		return fmt.Errorf("%w: the server says %.200q", io.ErrUnexpectedEOF, r.text())
	default:
		b.data.done = true
		return io.EOF
	}
}

// end closes the data connection, and gives the control connection back: only one whose transfer is over
// can be used again.
func (b *body) end(err error) {
	b.finished = err
	b.stop()
	b.silence.Stop()
	b.cancel()
	if !errors.Is(err, io.EOF) || !b.data.done {
		b.control.broken = true
	}
	_ = b.data.Close() // it was read to its end, or is not wanted
	b.release()
}

// Close implements io.Closer, also for a Read that waits.
func (b *body) Close() error {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished == nil {
		b.end(net.ErrClosed)
	}
	return nil
}
