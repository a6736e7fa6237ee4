package ftp

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// errBusy is for a request for which no connection becomes free in time: the control connections of others
// have all, and may wait for data connections in turn. It is a timeout, too.
var errBusy = fmt.Errorf("%w: no connection becomes free: %w", resolver.ErrBusy, context.DeadlineExceeded)

// within returns a context of the time of Limits. Its cause is for a Dial that waits until it may connect.
func (c *Config) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Limits.Timeout, errBusy)
}

// enter waits for a place among the requests that run, so that those have a data connection, too.
func (h *Handler) enter(ctx context.Context) error {
	if h.places == nil {
		return nil
	}
	ctx, cancel := h.config.within(ctx)
	defer cancel()
	if err := h.places.Acquire(ctx); err != nil {
		return fmt.Errorf("waiting to ask an FTP server: %w", err)
	}
	return nil
}

// leave gives the place to another request.
func (h *Handler) leave() {
	if h.places != nil {
		h.places.Release()
	}
}
