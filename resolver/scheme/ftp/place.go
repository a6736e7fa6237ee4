package ftp

import (
	"context"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// errBusy is the error for a request that gets no connection in time: control connections of other requests use
// up the limit, and may wait for data connections in turn. It is also a timeout.
var errBusy = fmt.Errorf("%w: all connections in use: %w", resolver.ErrBusy, context.DeadlineExceeded)

// within returns ctx with the timeout of Limits. Its cause is reported when a Dial is still waiting to connect.
func (c *Config) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Limits.Timeout, errBusy)
}

// enter waits for a slot among the running requests. The limit reserves data connections for them.
func (h *Handler) enter(ctx context.Context) error {
	if h.places == nil {
		return nil
	}
	ctx, cancel := h.config.within(ctx)
	defer cancel()
	if err := h.places.Acquire(ctx); err != nil {
		return fmt.Errorf("waiting for an FTP connection: %w", err)
	}
	return nil
}

// leave releases the slot.
func (h *Handler) leave() {
	if h.places != nil {
		h.places.Release()
	}
}
