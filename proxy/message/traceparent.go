package message

import (
	"context"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

type traceparentKey struct{}

// WithTraceparent returns a context for a request whose client has sent a traceparent, which fetches for it
// carry. Queries to resolution servers do not carry it, because their answers are shared by all clients.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// TraceparentOf returns the traceparent for a request made under ctx: that of urnd's own span, otherwise that
// of the client, "" for none.
func TraceparentOf(ctx context.Context) string {
	if traceparent := resolver.SpanOf(ctx); traceparent != "" {
		return traceparent
	}
	traceparent, _ := ctx.Value(traceparentKey{}).(string)
	return traceparent
}

// SetTraceparent sets Traceparent of a request made under ctx, if it is part of a trace.
func SetTraceparent(ctx context.Context, fields *httpmessage.Fields) {
	if traceparent := TraceparentOf(ctx); traceparent != "" {
		fields.Set(httpmessage.TraceparentField, traceparent)
	}
}

// QueryFields returns a function that sets Via of a query to a resolution server, and Traceparent if urnd traces
// it. The client's own Via is omitted, because the answer is shared by all clients. Loops are ended by the hop
// count of the query, which is part of its cache key.
func QueryFields(via httpmessage.ViaName) func(ctx context.Context, fields *httpmessage.Fields) {
	return func(ctx context.Context, fields *httpmessage.Fields) {
		fields.Set(httpmessage.ViaField, via.String())
		SetTraceparent(ctx, fields)
	}
}
