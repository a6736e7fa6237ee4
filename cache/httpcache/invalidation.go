package httpcache

import (
	"context"
	"net/http"
	"slices"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// unsafe forwards a request that the cache cannot answer, and invalidates what it may have
// changed.
func (x *exchange) unsafe(ctx context.Context) (*Answer, error) {
	reason := fwdMethod
	if x.r.isGet() {
		reason = fwdBypass // it has a body
	}
	if x.demands.onlyIfCached {
		return nil, ErrOnlyIfCached
	}
	forwarding := new(lifetime.Lifetime)
	forwarding.Begin(ctx)
	leave := context.AfterFunc(ctx, func() { forwarding.End(lifetime.Cause(ctx)) })
	defer leave()
	requested := x.cache.config.Now()
	response, err := x.origin.Ask(forwarding, Outgoing{Request: x.r.Request}) //nolint:contextcheck // it ends with ctx
	if err == nil {
		err = x.unasked(response)
	}
	if err != nil {
		forwarding.End(err)
		return nil, err
	}
	at := arrival{requested, x.cache.config.Now()}
	if !slices.Contains(safeMethods[:], x.r.Method) && response.Status < http.StatusBadRequest {
		x.invalidate(response)
	}
	if s := x.toStore(response, x.control(response.Fields), at); s != nil {
		f := x.alone()
		f.exchange = forwarding
		x.outcome.Forwarded = reason
		return x.arriving(ctx, f, &fetched{Response: response, arrival: at}, s)
	}
	x.passed = passed{response: response, exchange: forwarding, buffers: &x.cache.buffers}
	x.passed.watch = lifetime.On(ctx, &x.passed)
	return x.live(response, Outcome{Forwarded: reason}, &x.passed), nil
}

// invalidate makes what is stored for the URI of a request, and for those of the same origin that
// its response names, to be validated before it is used: RFC 9111 section 4.4.
func (x *exchange) invalidate(response *httpmessage.Response) {
	x.cache.invalidateGroups(x.r.Key, response.Fields)
	x.cache.invalidate(x.r.Key)
	for _, name := range [...]string{"Location", "Content-Location"} {
		if reference := response.Fields.Value(name); reference != "" {
			if key, same := x.cache.config.Same(x.r.Key, reference); same && key != x.r.Key {
				x.cache.invalidate(key)
			}
		}
	}
}

// invalidate makes what is stored for a key to be validated before it is used. What arrives now is
// not stored.
func (c *Cache) invalidate(key string) {
	c.forgetShared(key)
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(key)
	c.updateLocked(key, (*Entry).outdated)
}

// outdated returns the entry with variants that must be validated, nil for nothing.
func (e *Entry) outdated() *Entry {
	if e == nil {
		return nil
	}
	after := e.copied()
	after.variants = nil
	for _, s := range e.variants {
		if s.hasValidator() && !s.isPartial() {
			changed := s.copied()
			changed.purged = true
			after.variants = append(after.variants, changed)
		}
	}
	if len(after.variants) == 0 {
		return nil
	}
	return after
}

// updateByHead updates the stored response that a HEAD selects by its response, or makes it to be
// validated where they differ: RFC 9111 section 4.3.5.
// It returns the updated one, nil for none.
func (x *exchange) updateByHead(response *httpmessage.Response, at arrival) *stored {
	s := x.selected
	if s == nil || x.private || response.Status != http.StatusOK || s.status != http.StatusOK {
		return nil
	}
	changed, verdict := x.updated(s, response, at)
	if verdict != updateReplaces { // of another one's answer it says nothing
		return nil
	}
	same := sameByHead(&s.response, response.Fields)
	if !same {
		changed = s.copied()
		changed.purged = true
	}
	x.cache.update(x.r.Key, func(e *Entry) *Entry {
		if e == nil || !slices.Contains(e.variants, s) {
			return e // it has changed meanwhile
		}
		return x.cache.with(e, changed)
	})
	if !same {
		x.cache.unshare(x.r.Key, s)
		return nil
	}
	return changed
}
