package answer

import (
	"context"
	"errors"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// Preview replies with the page about a name, for a request target that is an unknown name ending with the
// suffix that requests a page. ok is false if this name is not known either, which one lookup finds out. The
// reply is not stored: it must not hide the longer name once that is registered.
func (a *Responder) Preview(ctx context.Context, q *Request) (reply message.Reply, ok bool) {
	chosen, err := formatOf(q)
	if err != nil {
		return message.Reply{}, false
	}
	traced, trace := a.traced(ctx)
	located, failure := a.locate(traced, q.Query)
	gone := authoritative(failure) && errors.Is(failure, resolver.ErrGone)
	if failure != nil && !gone && recordOf(located, failure) == nil {
		return message.Reply{}, false
	}
	reply, err = a.inFormat(ctx, q, chosen, located, failure, trace.PublicSteps())
	if err != nil {
		return message.Reply{}, false
	}
	reply.CacheControl, reply.SharedMaxAge = message.NoStore, 0
	return reply, true
}
