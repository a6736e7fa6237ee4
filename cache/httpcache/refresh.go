package httpcache

import (
	"context"
	"io"
	"runtime/debug"
)

// refresh validates a stored response in the background, unless that is under way: RFC 5861
// section 3. It does not end with the client.
func (x *exchange) refresh(ctx context.Context) {
	c := x.cache
	if x.isPrivate() || x.r.Fields.Has("Authorization") {
		return // a request that is not for all makes nothing for others
	}
	r := *x.r
	r.Ended = nil
	f, leads := c.enter(&r, x.class(), false, new(flight))
	if !leads {
		f.leave()
		return
	}
	select {
	case c.background <- struct{}{}:
	default:
		f.fail()
		return
	}
	r.Fields, r.Method = unconditional(x.r.Fields), "GET"
	detached := &exchange{
		cache: c, r: &r, origin: x.origin, demands: x.demands, asked: x.asked, selected: x.selected, entry: x.entry, background: true,
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.base, cancel) //nolint:contextcheck // it ends with the cache too
	c.spawn(func() {
		defer func() { stop(); cancel(); <-c.background }()
		a, err := detached.lead(ctx, f)
		if err == nil && a.Content != nil {
			defer a.Content.Close()
			if a.ContentLength <= c.config.MaxObject {
				_ = a.Content.SendTo(io.Discard, nil) // what fails is not stored
			}
		}
	})
}

// recovered reports a panic in the background.
func (c *Cache) recovered() {
	if value := recover(); value != nil && c.config.Panicked != nil {
		c.config.Panicked(value, debug.Stack())
	}
}
