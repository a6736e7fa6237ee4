// Package telemetry sends traces to OpenTelemetry: a span for a request, and one for
// each step that was noted on its way. The rooms of the house know nothing of it.
package telemetry

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config says where spans are sent.
type Config struct {
	Endpoint string // "http://127.0.0.1:4318"
	Sample   uint64 // one request of so many is traced, beside those whose traceparent asks for it
	Version  string
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
	Failed   func(error) // hears of spans that could not be sent
}

// quiet is an exporter whose errors go where Failed says: the library would write them
// to standard error.
type quiet struct {
	sdktrace.SpanExporter
	failed func(error)
}

// ExportSpans implements sdktrace.SpanExporter.
func (q quiet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := q.SpanExporter.ExportSpans(ctx, spans); err != nil {
		q.failed(err)
	}
	return nil
}

// Tracer makes spans. It is safe for concurrent use. Close it.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	sample   uint64
	seen     atomic.Uint64
}

// timeout bounds one sending of spans, and their last one.
const timeout = 5 * time.Second

// New returns a Tracer. It connects when there is something to send; what cannot be
// sent is lost.
func New(config Config) (*Tracer, error) {
	client := &http.Client{Timeout: timeout, Transport: &http.Transport{DialContext: config.Dial, MaxIdleConns: 1, IdleConnTimeout: time.Minute}}
	exporter, err := otlptracehttp.New(context.Background(), // it starts nothing
		otlptracehttp.WithEndpointURL(config.Endpoint+"/v1/traces"), otlptracehttp.WithHTTPClient(client),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}))
	if err != nil {
		return nil, fmt.Errorf("telemetry.endpoint: %w", err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "urnd"), attribute.String("service.version", config.Version))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(quiet{exporter, config.Failed}), sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.AlwaysSample()))
	return &Tracer{provider: provider, tracer: provider.Tracer("github.com/urnd/urnd"), sample: max(config.Sample, 1)}, nil
}

// Close sends what is left.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // what cannot be sent is lost
}

// Request is the span of a request.
type Request struct {
	tracer *Tracer
	span   trace.Span
	ctx    context.Context //nolint:containedctx // it is the span's, and ends with it
	start  time.Time
}

// Begin begins the span of a request, below that of its traceparent (W3C Trace
// Context), and returns nil where it is not sampled. A traceparent that is heeded may
// ask for a span.
func (t *Tracer) Begin(r *http.Request, at time.Time, heeded bool) *Request {
	parent := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(r.Header))
	asked := heeded && trace.SpanContextFromContext(parent).IsSampled()
	if !asked && (t.seen.Add(1)-1)%t.sample != 0 {
		return nil
	}
	ctx, span := t.tracer.Start(parent, r.Method, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(at))
	return &Request{t, span, ctx, at}
}

// Traceparent returns the field for requests on behalf of this one.
func (r *Request) Traceparent() string {
	header := make(propagation.MapCarrier)
	propagation.TraceContext{}.Inject(r.ctx, header)
	return header["traceparent"]
}

// Step is one thing that was done: Took ends At, which is since the request began.
type Step struct {
	Stage, Detail string
	At, Took      time.Duration
}

// End ends the span of a request, with its steps.
func (r *Request) End(took time.Duration, name string, status int, steps []Step, attributes map[string]string) {
	before := time.Duration(0)
	for _, s := range steps {
		begun := before
		if s.Took > 0 {
			begun = s.At - s.Took
		}
		_, span := r.tracer.tracer.Start(r.ctx, s.Stage, trace.WithTimestamp(r.start.Add(begun)))
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
