package resolver

import "context"

// TraceparentField is that of W3C Trace Context, which names the trace of a request.
const TraceparentField = "Traceparent"

type traceparentKey struct{}

// WithTraceparent returns a context for a request that is part of a trace: what is
// asked for on its behalf is a part of it too.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// Traceparent returns the field of a request on behalf of ctx, "" where there is none.
func Traceparent(ctx context.Context) string {
	traceparent, _ := ctx.Value(traceparentKey{}).(string)
	return traceparent
}
