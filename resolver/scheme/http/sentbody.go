package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/resolver/scheme"
)

// sentBody is a request body for the standard library. It records the error of reading it, which is not a
// failure of the origin.
type sentBody struct {
	io.Reader
	started, closed atomic.Bool
	failed          atomic.Pointer[error]
	stall           *stallTimer // of the response
}

// Read implements io.Reader.
func (b *sentBody) Read(p []byte) (int, error) {
	b.started.Store(true)
	if b.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.stall.sent()
	}
	if err != nil && !errors.Is(err, io.EOF) && !b.closed.Load() {
		b.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Close implements io.Closer. A body whose reading has not started is left open, so that a retry can send it.
func (b *sentBody) Close() error {
	b.closed.Store(true)
	if b.started.Load() {
		closeBody(b.Reader)
	}
	return nil
}

// blame returns the error to report: that of the request's body, that of the context, or err.
func (b *sentBody) blame(ctx context.Context, err error) error {
	if failed := b.failed.Load(); failed != nil {
		return fmt.Errorf("%w: %w", scheme.ErrRequestBody, *failed)
	}
	if ctx.Err() != nil {
		return lifetime.Cause(ctx)
	}
	return err
}
