package proxy

import (
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// Span is the span of a request (OpenTelemetry).
type Span interface {
	// Traceparent returns the traceparent of outgoing requests on behalf of this one.
	Traceparent() string
	// End ends the span with the outcome and steps of the request. It must not retain the event.
	End(e *Event, steps []resolver.Step)
}

// traced routes an exchange within its span. Without a span the traceparent of the client
// is passed on to origins.
func (h *Handler) traced(x *exchange, start time.Time) {
	if span := h.spanOf(x, start); span != nil {
		ctx, trace := resolver.WithTrace(resolver.WithSpan(x.request.Context(), span.Traceparent()), h.config.Now)
		defer func() {
			x.event.Took = h.config.Now().Sub(start)
			span.End(&x.event, trace.Steps())
		}()
		x.withContext(ctx)
	} else if traceparent := x.request.Header[message.TraceparentField]; len(traceparent) > 0 && message.IsTraceparent(traceparent[0]) {
		x.withContext(message.WithTraceparent(x.request.Context(), traceparent[0]))
	}
	h.route(x)
}

// spanOf begins the span of a request, nil where it is not traced. Tracing costs time: only
// clients that the configuration names may demand a span, others are sampled.
func (h *Handler) spanOf(x *exchange, start time.Time) Span {
	if h.config.Begin == nil {
		return nil
	}
	mayAsk := message.Contains(h.config.Access.Trusted, x.client.Peer) || message.Contains(h.config.Access.Proxy, x.client.Peer)
	return h.config.Begin(x.request, start, mayAsk)
}
