package httpcache

import (
	"context"
	"errors"
	"io"
)

// passed is the content of a response that is for one client, and not stored.
type passed struct {
	response *Response
	cancel   func()
	leave    func() bool
}

// newPassed returns the content of a response; cancel ends its exchange, also when ctx ends.
func newPassed(ctx context.Context, response *Response, cancel func()) *passed {
	return &passed{response, cancel, context.AfterFunc(ctx, cancel)}
}

// Close implements Content.
func (p *passed) Close() {
	p.leave()
	_ = p.response.Body.Close()
	p.cancel()
}

// SendTo implements Content.
func (p *passed) SendTo(w io.Writer, flush func()) error {
	left := p.response.ContentLength
	size := int64(blockSize)
	if left >= 0 {
		size = min(size-1, left) + 1 // one more for the end
	}
	buffer := make([]byte, size)
	for {
		n, err := p.response.Body.Read(buffer)
		left -= int64(n)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err //nolint:wrapcheck // the caller knows what it writes to
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err //nolint:wrapcheck // likewise
		case n < len(buffer) && left != 0 && flush != nil:
			flush() // more may take long
		}
	}
}

// Live returns the content of a response that does not come through the cache.
func Live(ctx context.Context, response *Response) Content {
	return newPassed(ctx, response, func() {})
}
