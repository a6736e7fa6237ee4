// Package telemetry sends traces to an OpenTelemetry collector by OTLP over HTTP. A request with its steps
// enters and leaves as a span with a child span for each step. The trace is continued from and passed on by the
// header field traceparent of W3C Trace Context.
package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Config configures the destination of spans.
type Config struct {
	Endpoint string // "http://127.0.0.1:4318"
	Sample   uint64 // one of this many requests is traced, in addition to those with a sampled traceparent; 0 is 1
	Version  string
	Instance string // distinguishes instances of urnd, such as host name and port; "" is not sent
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Failed   func(error) // called when spans could not be sent
}

// reportingExporter passes errors to Config.Failed; the library would write them to standard error.
type reportingExporter struct {
	sdktrace.SpanExporter
	failed func(error)
}

// ExportSpans implements sdktrace.SpanExporter.
func (e reportingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.failed(err)
	}
	return nil
}

// Tracer creates spans. It is safe for concurrent use and must be closed.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	sample   uint64
	seen     atomic.Uint64 // requests without a sampled traceparent
}

// timeout limits each export of spans, including the last one by Close.
const timeout = 5 * time.Second

// New returns a Tracer. It connects when there are spans to send; spans that cannot be sent are dropped.
func New(config Config) (*Tracer, error) {
	client := &http.Client{
		Timeout:   timeout,
		Transport: &http.Transport{DialContext: config.Dial, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
	}
	exporter, err := otlptracehttp.New(context.Background(), // the context is not retained
		otlptracehttp.WithEndpointURL(config.Endpoint+"/v1/traces"), otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	if err != nil {
		return nil, fmt.Errorf("creating the OTLP exporter: %w", err)
	}
	attributes := resource.NewSchemaless(describe(config)...)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(reportingExporter{exporter, config.Failed}),
		sdktrace.WithResource(attributes), sdktrace.WithSampler(sdktrace.AlwaysSample()),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/urnd/urnd"), sample: max(config.Sample, 1)},
		nil
}

// describe returns the resource attributes according to the semantic conventions of OpenTelemetry for services.
func describe(config Config) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String("service.name", "urnd"),
		attribute.String("service.version", config.Version),
	}
	if config.Instance != "" {
		all = append(all, attribute.String("service.instance.id", config.Instance))
	}
	return all
}

// Close sends the remaining spans.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // spans that cannot be sent are dropped
}

// Request is the span of a request.
type Request struct {
	tracer *Tracer
	span   trace.Span
	ctx    context.Context //nolint:containedctx // belongs to the span and ends with it
	start  time.Time
}

// Begin begins the span of a request as a child of its traceparent (W3C Trace Context). It returns nil if the
// request is not sampled. A sampled traceparent causes a span only if the client is trusted.
func (t *Tracer) Begin(method string, header httpmessage.Header, at time.Time, trusted bool) *Request {
	parent := propagation.TraceContext{}.Extract(context.Background(), carrier(header))
	sampled := trusted && trace.SpanContextFromContext(parent).IsSampled()
	if !sampled && (t.seen.Add(1)-1)%t.sample != 0 {
		return nil
	}
	ctx, span := t.tracer.Start(parent, method, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(at))
	return &Request{t, span, ctx, at}
}

// carrier adapts the header fields of a request to propagation.TextMapCarrier, read-only.
type carrier httpmessage.Header

// Get implements propagation.TextMapCarrier. key is in lower case.
func (c carrier) Get(key string) string {
	return httpmessage.Header(c).Get(textproto.CanonicalMIMEHeaderKey(key))
}

// Set implements propagation.TextMapCarrier.
func (carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier. TraceContext does not call it.
func (carrier) Keys() []string { return nil }

// Untraced reports whether a request without a traceparent is not sampled, and counts it in that case. If it
// returns false, the caller must call Begin, which counts the request.
func (t *Tracer) Untraced() bool {
	for {
		n := t.seen.Load()
		if n%t.sample == 0 {
			return false
		}
		if t.seen.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Traceparent returns the traceparent field for requests on behalf of this one.
func (r *Request) Traceparent() string {
	header := make(propagation.MapCarrier)
	propagation.TraceContext{}.Inject(r.ctx, header)
	return header["traceparent"]
}

// Step is a step of a request. At is the time from the start of the request to the end of the step, and Took
// the duration of the step. If Took is 0, the step begins at the end of the previous one.
type Step struct {
	Stage, Detail string
	At, Took      time.Duration
}

// End ends the span of a request and creates the spans of its steps.
func (r *Request) End(took time.Duration, name string, status int, steps []Step, attributes map[string]string) {
	before := time.Duration(0)
	for _, s := range steps {
		started := before
		if s.Took > 0 {
			started = s.At - s.Took
		}
		_, span := r.tracer.tracer.Start(r.ctx, s.Stage, trace.WithTimestamp(r.start.Add(started)))
		span.SetAttributes(attribute.String("urnd.detail", s.Detail))
		span.End(trace.WithTimestamp(r.start.Add(s.At)))
		before = s.At
	}
	r.span.SetName(name)
	r.span.SetAttributes(attribute.Int("http.response.status_code", status))
	for key, value := range attributes {
		r.span.SetAttributes(attribute.String(key, value))
	}
	if status >= http.StatusInternalServerError {
		r.span.SetStatus(codes.Error, http.StatusText(status))
	}
	r.span.End(trace.WithTimestamp(r.start.Add(took)))
}
