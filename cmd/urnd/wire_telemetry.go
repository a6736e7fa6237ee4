package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// tracing are the functions that begin spans and count requests without one: nil where telemetry is turned off.
type tracing struct {
	begin    func(string, http.Header, time.Time, bool) proxy.Span
	untraced func() bool
}

// wireTelemetry returns the functions for spans.
func wireTelemetry(s *service, c config.Config, d dependencies) (tracing, error) {
	if c.Telemetry.Endpoint == "" {
		return tracing{}, nil
	}
	// The host is configured; no client can choose it.
	everywhere := netguard.New(c.Limits.ConnectTimeout, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
	tracer, err := telemetry.New(telemetry.Config{
		Endpoint: c.Telemetry.Endpoint, Sample: uint64(c.Telemetry.Sample), //nolint:gosec // it is not negative
		Version: versionText(), Dial: everywhere.DialContext,
		Failed: func(err error) { d.log.Warn("spans were lost", "error", err) },
	})
	if err != nil {
		return tracing{}, fmt.Errorf("telemetry.endpoint: %w", err)
	}
	s.closers = append(s.closers, tracer.Close)
	begin := func(method string, header http.Header, at time.Time, mayAsk bool) proxy.Span {
		if request := tracer.Begin(method, header, at, mayAsk); request != nil {
			return span{request}
		}
		return nil
	}
	return tracing{begin, tracer.Untraced}, nil
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
	s.Request.End(e.Took, e.Form+" "+e.Service.String(), e.Status, converted, map[string]string{
		"http.request.method": e.Method, "url.full": redact.URLs(e.Target),
		"urnd.form": e.Form, "urnd.service": e.Service.String(), "urnd.cache": cmp.Or(e.Cache, "bypass"),
	})
}
