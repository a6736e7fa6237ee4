package httpcache

import (
	"context"
	"net/http"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
)

// lead makes an exchange with the origin, and answers by it. Others may wait for it.
func (x *exchange) lead(ctx context.Context, f *flight) (*Answer, error) {
	exchange, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f.cancel = cancel
	stop := context.AfterFunc(ctx, f.leave)
	defer func() {
		if stop() {
			f.leave()
		}
	}()
	handled := false
	defer func() {
		if !handled { // forward panicked
			f.fail(errAbandoned)
		}
	}()
	requested := x.cache.config.Now()
	header, validates := x.outgoing()
	response, err := x.forward(exchange, Outgoing{x.r.Method, header, x.background})
	handled = true
	if err != nil {
		cancel(err)
		f.fail(err)
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if x.mayUseStale(err) {
			return x.stale(ctx)
		}
		return nil, err
	}
	received := arrival{requested, x.cache.config.Now()}
	if validates && response.Status == http.StatusNotModified {
		return x.validated(ctx, f, response, received)
	}
	if x.keepsOnError(response) {
		cancel(errAbandoned)
		_ = response.Body.Close()
		f.finish(nil)
		return x.stale(ctx)
	}
	return x.receive(ctx, f, response, received)
}

// arrival is when a request was sent, and when the header of its response came.
type arrival struct{ requested, received time.Time }

// outgoing returns the header of the request to the origin, and whether it validates a stored
// response.
func (x *exchange) outgoing() (header http.Header, validates bool) {
	s := x.selected
	switch {
	case s == nil && x.entry != nil: // RFC 9111 section 4.3.1: perhaps another variant is right
		if tagged := x.entry.tagged(); len(tagged) > 0 {
			return validationHeader(x.r.Header, tagged), true
		}
		if x.entry.unconditional {
			return unconditional(x.r.Header), false
		}
		return x.r.Header, false
	case s == nil || s.isPartial() || !s.hasValidator():
		return x.r.Header, false
	}
	return validationHeader(x.r.Header, []*stored{s}), true
}

// keepsOnError reports whether the stored response is used in place of an error: RFC 5861 section
// 4, RFC 9111 section 4.3.3.
func (x *exchange) keepsOnError(response *Response) bool {
	switch response.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return x.selected != nil && x.covers(x.selected) && x.selected.mayUseOnError(x.demands, x.cache.config.Now(), x.cache.config.StaleFor)
	default:
		return false
	}
}

// fail ends a flight that has brought no response.
func (f *flight) fail(err error) {
	f.err = err
	f.finish(nil)
}

// finish lets those who wait go on, and ends the flight, with what is stored, nil for nothing.
func (f *flight) finish(s *stored) {
	f.result = s
	close(f.ready)
	f.commit(s)
}

// validated answers by the stored response that a 304 says is right.
func (x *exchange) validated(ctx context.Context, f *flight, response *Response, at arrival) (*Answer, error) {
	f.cancel(nil)
	_ = response.Body.Close()
	s := validated(response.Header, x.selected, x.entry.variants)
	if s == nil { // it says so of a response that is not stored: ask without conditions
		x.selected = nil
		f.finish(nil)
		x.r = &Request{Method: x.r.Method, URI: x.r.URI, Header: unconditional(x.r.Header), Gateway: x.r.Gateway, Check: x.r.Check}
		return x.lead(ctx, x.cache.alone(x.r.URI, x.r.Header))
	}
	fresh := x.cache.storedResponse(x.r, &Response{
		Status: s.status, Reason: s.reason, Header: updatedFields(s.header, response.Header), From: response.From,
	}, at)
	fresh.selectors, fresh.content, fresh.part, fresh.length, fresh.etag = s.selectors, s.content, s.part, s.length, s.etag
	if s != x.selected {
		fresh.selectors = selectorsOf(fresh.header, x.r.Header)
	}
	f.finish(fresh)
	outcome := x.outcome
	outcome.OriginStatus, outcome.Stored = http.StatusNotModified, true
	return x.answer(ctx, fresh, outcome, true)
}

// receive answers by a response while it arrives, and stores it where that is allowed.
func (x *exchange) receive(ctx context.Context, f *flight, response *Response, at arrival) (*Answer, error) {
	requested := x.asked
	directives, _ := x.cache.directivesOf(x.r, response.Header)
	if x.r.Method == http.MethodHead {
		if s := x.updateByHead(response, at); s != nil {
			f.cancel(nil)
			_ = response.Body.Close()
			f.finish(nil)
			return x.answer(ctx, s, x.outcome, true)
		}
		f.finish(nil)
		return x.live(response, x.outcome, newPassed(ctx, response, func() { f.cancel(nil) })), nil
	}
	if !x.cache.mayStore(x.r, requested, directives, response) {
		return x.notStored(ctx, f, response, directives), nil
	}
	s := x.cache.storedResponse(x.r, response, at)
	if s == nil {
		return x.notStored(ctx, f, response, directives), nil
	}
	return x.arriving(ctx, f, response, s)
}

// notStored answers by a response that is for this client alone.
func (x *exchange) notStored(ctx context.Context, f *flight, response *Response, directives cachecontrol.Directives) *Answer {
	f.mu.Lock()
	others := f.waiting > 1
	f.mu.Unlock()
	f.finish(nil)
	if response.Status == http.StatusNotModified && x.entry == nil {
		x.cache.fetchWhole(x.r.URI)
	}
	if others || directives.Has("private") || directives.Has("no-store") {
		x.cache.doNotCollapse(x.r.URI)
	}
	return x.live(response, x.outcome, newPassed(ctx, response, func() { f.cancel(nil) }))
}

// doNotCollapse lets requests for a URI go their own way for some time.
func (c *Cache) doNotCollapse(key string) {
	until := c.config.Now().Add(uncollapsedFor)
	c.update(key, func(e *Entry) *Entry {
		if e == nil {
			return &Entry{uncollapsed: until}
		}
		return &Entry{variants: e.variants, uncollapsed: until, unconditional: e.unconditional}
	})
}

// fetchWhole lets the next request for a URI ask for a response that can be stored, after a 304
// to the condition of a client: else nothing would ever be stored where all clients have a
// response of their own.
func (c *Cache) fetchWhole(key string) {
	c.update(key, func(e *Entry) *Entry {
		if e == nil {
			return &Entry{unconditional: true}
		}
		return e
	})
}

// arriving answers by a response that is stored while it arrives.
func (x *exchange) arriving(ctx context.Context, f *flight, response *Response, s *stored) (*Answer, error) {
	c := x.cache
	b := &body{
		source: response.Body, length: response.ContentLength, most: c.config.MaxObject, budget: &c.arriving,
		cancel: f.cancel, spawn: c.spawn, readers: make(map[*bodyReader]struct{}),
	}
	b.ended = func(content blocks) {
		if content == nil && (b.passing || b.err != nil) {
			f.commit(nil)
			return
		}
		whole := *s
		whole.content = content
		if whole.length < 0 {
			whole.length = content.size()
		}
		f.commit(c.combined(f.key, &whole))
	}
	s.content = b
	f.result, f.live = s, response
	outcome := x.outcome
	outcome.Stored, outcome.TTL, outcome.HasTTL = true, s.ttl(c.config.Now()), true
	if response.Status == http.StatusPartialContent || response.ContentLength == 0 {
		f.result = nil // the one is not for others, the other needs no waiting
	}
	reader := b.join(ctx, span{0, -1})
	close(f.ready)
	a := x.live(response, outcome, reader)
	if response.Status != http.StatusOK {
		return a, nil
	}
	return x.fitted(ctx, a, s, reader)
}

// fitted makes an answer with a complete response the one that the request asks for, where the
// origin has not done so: by its preconditions, and its ranges.
func (x *exchange) fitted(ctx context.Context, a *Answer, s *stored, reader *bodyReader) (*Answer, error) {
	switch s.precondition(x.r.Header) {
	case http.StatusNotModified:
		reader.Close()
		a.Status, a.Reason, a.Header, a.ContentLength, a.Content = http.StatusNotModified, "", notModified(a.Header), -1, nil
		a.Outcome.OriginStatus = s.status
		return a, nil
	case http.StatusPreconditionFailed:
		reader.Close()
		a.Content, a.Outcome.OriginStatus = nil, s.status
		return failedPrecondition(a), nil
	}
	if len(x.r.Header["Range"]) == 0 || s.length < 0 {
		return a, nil
	}
	whole := a.Content
	a.Content = nil
	err := x.fill(ctx, a, s)
	whole.Close()
	if a.Status != s.status {
		a.Outcome.OriginStatus = s.status
	}
	return a, err
}
