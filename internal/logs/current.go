package logs

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// Current is a slog.Handler for loggers that outlive a reload: records use the level, format and destination of
// the handler currently in force. It must be created by NewCurrent. It is safe for concurrent use.
type Current struct {
	inForce *atomic.Pointer[slog.Handler]
	derive  func(slog.Handler) slog.Handler // applies WithAttrs and WithGroup; nil for none
}

// NewCurrent returns a Current that starts with h.
func NewCurrent(h slog.Handler) *Current {
	c := &Current{inForce: new(atomic.Pointer[slog.Handler])}
	c.Set(h)
	return c
}

// Set puts a handler in force, also for loggers derived before.
func (c *Current) Set(h slog.Handler) { c.inForce.Store(&h) }

// handler returns the handler in force with the attributes and groups of c.
func (c *Current) handler() slog.Handler {
	h := *c.inForce.Load()
	if c.derive != nil {
		h = c.derive(h)
	}
	return h
}

// with returns a Current with a further derivation.
func (c *Current) with(derive func(slog.Handler) slog.Handler) *Current {
	before := c.derive
	return &Current{inForce: c.inForce, derive: func(h slog.Handler) slog.Handler {
		if before != nil {
			h = before(h)
		}
		return derive(h)
	}}
}

// Enabled implements slog.Handler.
func (c *Current) Enabled(ctx context.Context, level slog.Level) bool {
	return (*c.inForce.Load()).Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (c *Current) Handle(ctx context.Context, r slog.Record) error { return c.handler().Handle(ctx, r) }

// WithAttrs implements slog.Handler.
func (c *Current) WithAttrs(attributes []slog.Attr) slog.Handler {
	return c.with(func(h slog.Handler) slog.Handler { return h.WithAttrs(attributes) })
}

// WithGroup implements slog.Handler.
func (c *Current) WithGroup(name string) slog.Handler {
	return c.with(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}
