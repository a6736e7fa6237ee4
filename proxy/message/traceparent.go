package message

import (
	"context"
	"net/http"
	"regexp"
)

// TraceparentField is that of W3C Trace Context, which names the trace of a request.
const TraceparentField = "Traceparent"

type traceparentKey struct{}

// WithTraceparent returns a context for a request that is part of a trace: what is
// asked for on its behalf is a part of it too.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// traceparentForm is section 3.2 of W3C Trace Context.
var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// IsTraceparent reports whether a field is one that may be passed on.
func IsTraceparent(field string) bool { return len(field) <= 128 && traceparentForm.MatchString(field) }

// SetTraceparent sets the field of a request on behalf of ctx, if it is part of a trace.
func SetTraceparent(ctx context.Context, header http.Header) {
	if traceparent, _ := ctx.Value(traceparentKey{}).(string); traceparent != "" {
		header[TraceparentField] = []string{traceparent}
	}
}
