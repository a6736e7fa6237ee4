package httpcache

import (
	"context"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
)

// arriving is a response that is stored, as whole, when its body has arrived. It is the owner of that.
type arriving struct {
	body   body.Arriving
	flight *flight
	// whole is what no other client has before. head is the same for others meanwhile.
	whole *stored
	head  stored
	// fits is whether the body, as long as it is said to be, may be stored.
	fits bool
}

// Spawn implements the owner of a body: the function ends with the cache.
func (a *arriving) Spawn(run func()) {
	c, exchange := a.flight.cache, a.flight.exchange
	c.spawn(func() {
		stop := context.AfterFunc(c.base, func() { exchange.End(body.ErrAbandoned) })
		defer stop()
		run()
	})
}

// End implements the owner of a body.
func (a *arriving) End(err error) { a.flight.exchange.End(err) }

// Complete implements the owner of a body: it stores what has arrived.
func (a *arriving) Complete(size int64, content body.Blocks, inMemory bool, spool *body.Spool) {
	f, whole := a.flight, a.whole
	if inMemory {
		whole.content = content.Body()
	}
	if !whole.Partial() {
		whole.Length, whole.Part = size, rules.Span{Start: 0, End: size}
	}
	if whole.Partial() {
		whole = whole.combined(f.cache.storage.peek(f.key), f.cache.config.MaxObject)
	}
	f.commit(whole, spool)
}

// Incomplete implements the owner of a body.
func (a *arriving) Incomplete() { a.flight.commit(nil, nil) }
