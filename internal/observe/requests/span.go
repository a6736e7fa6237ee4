package requests

import (
	"cmp"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// Spans returns a function that begins the span of a request, or returns nil if the request is not sampled.
func Spans(
	tracer *telemetry.Tracer,
) func(method string, header httpmessage.Header, at time.Time, mayAsk bool) proxy.Span {
	return func(method string, header httpmessage.Header, at time.Time, mayAsk bool) proxy.Span {
		if request := tracer.Begin(method, header, at, mayAsk); request != nil {
			return span{request}
		}
		return nil
	}
}

// span implements proxy.Span.
type span struct {
	*telemetry.Request
}

// End implements proxy.Span.
func (s span) End(e *proxy.Event, steps []resolver.Step) {
	converted := make([]telemetry.Step, len(steps))
	for i, step := range steps {
		converted[i] = telemetry.Step{Stage: step.Stage, Detail: redact.URLs(step.Detail), At: step.At, Took: step.Took}
	}
	s.Request.End(e.Duration, e.Form+" "+e.Service.String(), e.Status, converted, map[string]string{
		"http.request.method": e.Method, "url.full": redact.URLs(e.Target),
		"urnd.form": e.Form, "urnd.service": e.Service.String(), "urnd.cache": cmp.Or(e.Cache, "bypass"),
	})
}
