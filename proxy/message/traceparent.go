package message

import (
	"context"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

type traceparentKey struct{}

// WithTraceparent returns a context for a request that its client has made part of a trace:
// fetches on its behalf carry this traceparent. Questions to resolution servers do not, since
// their answers are for all clients.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// TraceparentOf returns the traceparent of a request on behalf of ctx, "" where that is not part of a trace: that of
// urnd's own span, or that of the client.
func TraceparentOf(ctx context.Context) string {
	if traceparent := resolver.SpanOf(ctx); traceparent != "" {
		return traceparent
	}
	traceparent, _ := ctx.Value(traceparentKey{}).(string)
	return traceparent
}

// SetTraceparent sets the field of a request on behalf of ctx, if it is part of a trace.
func SetTraceparent(ctx context.Context, fields *httpmessage.Fields) {
	if traceparent := TraceparentOf(ctx); traceparent != "" {
		fields.Set(httpmessage.TraceparentField, traceparent)
	}
}

// Question returns what sets Via of a question to a resolution server, and Traceparent if urnd traces it. What
// the client's request has come through is not in it: the answer is for all clients. The hop
// count of the question, which ends loops, is part of its key.
func Question(via httpmessage.ViaName) func(ctx context.Context, fields *httpmessage.Fields) {
	return func(ctx context.Context, fields *httpmessage.Fields) {
		fields.Set(httpmessage.ViaField, via.String())
		SetTraceparent(ctx, fields)
	}
}
