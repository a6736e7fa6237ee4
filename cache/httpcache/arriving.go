package httpcache

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
)

// arriving answers by a response that is stored, as whole, while it arrives.
func (x *exchange) arriving(ctx context.Context, f *flight, got *fetched, whole *stored) (*Answer, error) {
	c, response := x.cache, got.Response
	arriving := x.newArriving(f, response, whole)
	b, s := &arriving.body, &arriving.head
	result := s
	f.live, f.isAwaited = response, b.isSoonComplete() || b.length < 0
	fits := arriving.fits
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

// arriving is a response that is stored, as whole, when its body has arrived. It is the owner of that.
type arriving struct {
	body   body
	flight *flight
	// whole is what nobody else has before. head is the same for others meanwhile.
	whole *stored
	head  stored
	// fits is whether the body, as long as it is said to be, may be stored.
	fits bool
}

// newArriving returns a response whose body arrives, which the flight stores when it is complete.
func (x *exchange) newArriving(f *flight, got *httpmessage.Response, whole *stored) *arriving {
	c := x.cache
	a := &arriving{flight: f, whole: whole}
	from := source{
		reader: got.Body, length: got.ContentLength, most: c.config.MaxObject, budget: &c.arriving, owner: a,
		leaderEnded: f.ended, finishes: x.r.Method == http.MethodGet,
	}
	if !whole.isPartial() {
		from.spool = newSpool(c.config.Disk, f.key, got.ContentLength)
	}
	a.fits = from.spool != nil || got.ContentLength <= c.config.MaxObject
	a.body.begin(from)
	a.head.record = whole.record
	a.head.content = &a.body
	return a
}

// Spawn implements the owner of a body: the function ends with the cache.
func (a *arriving) Spawn(run func()) {
	c, exchange := a.flight.cache, a.flight.exchange
	c.spawn(func() {
		stop := context.AfterFunc(c.base, func() { exchange.End(errAbandoned) })
		defer stop()
		run()
	})
}

// End implements the owner of a body.
func (a *arriving) End(err error) { a.flight.exchange.End(err) }

// Complete implements the owner of a body: it stores what has arrived.
func (a *arriving) Complete(size int64, content blocks, isInMemory bool, spool *spool) {
	f, whole := a.flight, a.whole
	if isInMemory {
		whole.content = content.inMemory()
	}
	if !whole.isPartial() {
		whole.length, whole.part = size, span{0, size}
	}
	f.commit(f.cache.combined(f.key, whole), spool)
}

// Incomplete implements the owner of a body.
func (a *arriving) Incomplete() { a.flight.commit(nil, nil) }

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
