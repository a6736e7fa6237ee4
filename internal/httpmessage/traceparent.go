package httpmessage

import "regexp"

// TraceparentField is the field of W3C Trace Context that identifies the trace of a request.
const TraceparentField = "Traceparent"

// traceparentForm is section 3.2 of W3C Trace Context.
var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$`)

// IsTraceparent reports whether a value is well formed and may be passed on.
func IsTraceparent(field string) bool { return len(field) <= 128 && traceparentForm.MatchString(field) }
