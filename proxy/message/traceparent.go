package message

import (
	"context"
	"net/http"
	"regexp"

	"github.com/urnd/urnd/resolver"
)

// TraceparentField is the field of W3C Trace Context that identifies the trace of a request.
const TraceparentField = "Traceparent"

type traceparentKey struct{}

// WithTraceparent returns a context for a request that its client has made part of a trace:
// fetches on its behalf carry this traceparent. Questions to resolution servers do not, since
// their answers are for all clients.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// traceparentForm is section 3.2 of W3C Trace Context.
var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// IsTraceparent reports whether a value is well formed and may be passed on.
func IsTraceparent(field string) bool { return len(field) <= 128 && traceparentForm.MatchString(field) }

// SetTraceparent sets the field of a request on behalf of ctx, if it is part of a trace: that of
// urnd's own span, or that of the client.
func SetTraceparent(ctx context.Context, header http.Header) {
	traceparent := resolver.SpanOf(ctx)
	if traceparent == "" {
		traceparent, _ = ctx.Value(traceparentKey{}).(string)
	}
	if traceparent != "" {
		header[TraceparentField] = []string{traceparent}
	}
}
