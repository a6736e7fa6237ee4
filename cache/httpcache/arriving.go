package httpcache

import (
	"context"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// arriving is a response that is stored, as whole, when its body has arrived. It implements body.Owner for that
// body.
type arriving struct {
	body   body.Arriving
	flight *flight
	// whole is the response to store; no client has it before. head is the same response, for clients that read
	// it while it arrives.
	whole *stored
	head  stored
	// fits is whether a body of the announced length may be stored.
	fits bool
	// fetchedWhole is that of the exchange: the conditions of its client were not forwarded.
	fetchedWhole bool
}

// Spawn implements body.Owner: the function is cancelled when the cache is closed.
func (a *arriving) Spawn(run func()) {
	c, exchange := a.flight.cache, a.flight.exchange
	c.spawn(func() {
		stop := context.AfterFunc(c.base, func() { exchange.End(body.ErrAbandoned) })
		defer stop()
		run()
	})
}

// End implements body.Owner.
func (a *arriving) End(err error) { a.flight.exchange.End(err) }

// Complete implements body.Owner: it stores the complete response.
func (a *arriving) Complete(size int64, content body.Blocks, inMemory bool, spool *body.Spool) {
	f, whole := a.flight, a.whole
	if inMemory {
		whole.content = content.Body()
	}
	if !whole.Partial() {
		whole.Length, whole.Part = size, rules.Span{Start: 0, End: size}
	}
	if whole.Partial() {
		before := f.cache.purges.apply(f.key, f.cache.storage.peek(f.key))
		whole = whole.combined(before, f.cache.config.MaxObject)
	}
	f.commit(whole, spool)
}

// Incomplete implements body.Owner: it stores nothing. The body is too large, or its client has left, as one does that
// has a copy.
func (a *arriving) Incomplete() {
	if a.fetchedWhole && a.fits {
		a.flight.cache.storage.forwardConditions(a.flight.key)
	}
	a.flight.commit(nil, nil)
}
