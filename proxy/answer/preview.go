package answer

import (
	"context"
	"errors"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// Preview answers with the page about a name that a request may mean which named another one: that is not known, and ended with what asks for a
// page. ok is false where nothing is known of this one either, which one look-up tells. The reply is stored nowhere: once the other name is
// known, it is what is answered.
func (a *Responder) Preview(ctx context.Context, q *Question) (reply message.Reply, ok bool) {
	chosen, err := formatOf(q)
	if err != nil {
		return message.Reply{}, false
	}
	traced, trace := a.traced(ctx)
	located, failure := a.locate(traced, q.Query)
	isGone := authoritative(failure) && errors.Is(failure, resolver.ErrGone)
	if failure != nil && !isGone && recordOf(located, failure) == nil {
		return message.Reply{}, false
	}
	reply, err = a.inFormat(ctx, q, chosen, located, failure, trace.PublicSteps())
	if err != nil {
		return message.Reply{}, false
	}
	reply.CacheControl, reply.Shared = message.NoStore, 0
	return reply, true
}
