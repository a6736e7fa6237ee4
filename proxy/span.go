package proxy

import (
	"net/http"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Span is a request as a tracer sees it.
type Span interface {
	// Traceparent is the field of requests on behalf of this one.
	Traceparent() string
	// End hears what came of it, step by step. It must not keep the event.
	End(e *Event, steps []resolver.Step)
}

// traced serves a request, below a span where it has one. A traceparent of the client
// is passed on where it has none.
func (h *Handler) traced(rec *recorder, r *http.Request, from client, at time.Time) {
	if h.config.Begin != nil {
		// Whoever asks for a trace makes work: strangers get one by chance alone.
		peer := addrOf(r.RemoteAddr)
		heeded := contains(h.config.Access.Trusted, peer) || contains(h.config.Access.Proxy, peer)
		if span := h.config.Begin(r, at, heeded); span != nil {
			ctx, trace := resolver.WithTrace(resolver.WithTraceparent(r.Context(), span.Traceparent()), h.config.Now)
			defer func() {
				rec.event.Took = h.config.Now().Sub(at)
				span.End(&rec.event, trace.Steps())
			}()
			h.route(rec, r.WithContext(ctx), from)
			return
		}
	}
	if traceparent := r.Header[resolver.TraceparentField]; len(traceparent) > 0 && resolver.IsTraceparent(traceparent[0]) {
		r = r.WithContext(resolver.WithTraceparent(r.Context(), traceparent[0]))
	}
	h.route(rec, r, from)
}
