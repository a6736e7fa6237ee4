package httpcache

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
)

// arriving answers by a response that is stored, as whole, while it arrives.
func (x *exchange) arriving(ctx context.Context, f *flight, got *fetched, whole *stored) (*Answer, error) {
	c, response := x.cache, got.Response
	b := x.newBody(f, response, whole)
	s := &b.head
	result := s
	f.live, f.isAwaited = response, b.isSoonComplete() || b.length < 0
	fits := b.spool != nil || response.ContentLength <= c.config.MaxObject
	switch {
	case response.Status == http.StatusPartialContent, response.ContentLength == 0:
		result = nil // the one is not for others, the other needs no waiting
	case !fits, // the slowest client would hold up the others
		s.useOf(demands{}, c.config.Now()) == validate: // each of the others has to ask: RFC 9111 section 4
		result = nil
		if f.isShared() {
			defer x.doNotCollapse()
		}
	}
	outcome := x.outcome
	outcome.Stored, outcome.TTL, outcome.HasTTL = fits, s.ttl(c.config.Now()), true
	reader := b.join(ctx, span{0, -1})
	if !f.arrived() {
		result = nil // its body ends
	}
	if response.Body == http.NoBody { // its head is all that its client gets of it
		b.finishCome()
	}
	f.publish(result)
	a := x.live(response, outcome, reader)
	if response.Status != http.StatusOK || x.r.Method != http.MethodGet {
		return a, nil
	}
	return x.fitted(ctx, a, s, got.isOwn), nil
}

// newBody returns the content of a response, which the flight stores when it is complete.
func (x *exchange) newBody(f *flight, response *httpmessage.Response, whole *stored) *body {
	c := x.cache
	b := &body{
		source: response.Body, length: response.ContentLength, most: c.config.MaxObject, budget: &c.arriving,
		flight: f, whole: whole, deserted: f.ended, finishes: x.r.Method == http.MethodGet,
	}
	b.head.record = whole.record
	b.head.content = b
	if !whole.isPartial() {
		b.spool = c.newSpool(f.key, response.ContentLength)
	}
	return b
}

// spawn runs a function in the background, which ends with the cache.
func (b *body) spawn(run func()) {
	c, exchange := b.flight.cache, b.flight.exchange
	c.spawn(func() {
		stop := context.AfterFunc(c.base, func() { exchange.End(errAbandoned) })
		defer stop()
		run()
	})
}

// ended stores what has arrived, with the content in memory, nil where that is not complete; complete is whether all of it can be
// stored. It is called once, and b.mu is held.
func (b *body) ended(content blocks, complete bool) {
	f := b.flight
	if !complete {
		f.commit(nil, nil)
		return
	}
	whole := b.whole
	if !b.passing {
		whole.content = content.inMemory()
	}
	if !whole.isPartial() {
		whole.length = b.arrived
		whole.part = span{0, whole.length}
	}
	var arrived *spool
	if b.isSpooled() {
		arrived = b.spool
	}
	f.commit(f.cache.combined(f.key, whole), arrived)
}

// fitted makes an answer with a complete response the one that the request asks for, where the
// origin has not done so: by its preconditions, and its ranges. isOwn is whether the origin knew the
// conditions of the client.
func (x *exchange) fitted(ctx context.Context, a *Answer, s *stored, isOwn bool) *Answer {
	if !isOwn && s.isUnmodified(x.r.Fields.Lines) {
		a.Content.Close()
		a.Outcome.OriginStatus = s.status
		return unmodified(a)
	}
	if !x.r.Fields.Has("Range") || s.length < 0 {
		return a
	}
	part := *a
	part.Content, part.Trailer = nil, nil
	if err := x.fill(ctx, &part, s); err != nil {
		return a // it is too far in the body: the whole is sent, RFC 9110 section 14.2
	}
	a.Content.Close()
	if part.Status != s.status {
		part.Outcome.OriginStatus = s.status
	}
	return &part
}
