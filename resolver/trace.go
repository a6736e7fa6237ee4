package resolver

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Step is one step of a resolution.
type Step struct {
	Stage  string        // part of urnd: "normalize", "cache", "ddds" ...
	Code   string        // code of the step, or of its negative answer, for translated messages
	Values []any         // of the message: pairs of a name and a text or a number, no addresses of the internal network
	Detail string        // text for administrators, in English
	Public string        // public form of Detail, without addresses of the internal network; "" if Detail is public
	At     time.Duration // since the start of the trace
	Took   time.Duration // 0 if it was not measured
	Rule   *Rule         // the DDDS rule that the step applied; nil for none
}

// Trace collects the steps of one query. It is a context value, so that it costs nothing unless requested, and
// is never cached. A nil Trace discards steps. It is safe for concurrent use: a load may continue for other
// callers after the traced query has ended.
type Trace struct {
	now   func() time.Time
	start time.Time

	explains atomic.Bool

	mu    sync.Mutex
	steps []Step
}

// maxSteps limits the steps of a trace; further ones are discarded.
const maxSteps = 1000

// options are the context values of this package. They are one value, since every request pays for each lookup
// in a context.
type options struct {
	trace  *Trace // nil if the resolution is not traced
	bypass bool   // the cache is bypassed for reading: see WithCacheBypass
	span   string // see WithSpan
}

type optionsKey struct{}

func optionsOf(ctx context.Context) options {
	o, _ := ctx.Value(optionsKey{}).(options)
	return o
}

// WithTrace returns a context with a new Trace, and that Trace.
func WithTrace(ctx context.Context, now func() time.Time) (context.Context, *Trace) {
	o := optionsOf(ctx)
	o.trace = &Trace{now: now, start: now()}
	return context.WithValue(ctx, optionsKey{}, o), o.trace
}

// TraceOf returns the trace of ctx, or nil. Check for nil before building arguments of Add, so that a query
// without a trace is cheap.
func TraceOf(ctx context.Context) *Trace { return optionsOf(ctx).trace }

// WithSpan returns a context for a span of distributed tracing. Requests to servers carry its identifier (W3C
// Trace Context, traceparent).
func WithSpan(ctx context.Context, traceparent string) context.Context {
	o := optionsOf(ctx)
	o.span = traceparent
	return context.WithValue(ctx, optionsKey{}, o)
}

// SpanOf returns the identifier set by WithSpan, or "".
func SpanOf(ctx context.Context) string { return optionsOf(ctx).span }

// Explain makes t an explanation: a name with a cached answer is resolved once more, only to show the steps.
func (t *Trace) Explain() { t.explains.Store(true) }

// Add appends a step with its detail and the current time. If the detail may contain addresses of the internal
// network, set Public of the step to the text without them. Add does nothing on a nil Trace.
func (t *Trace) Add(s Step, format string, args ...any) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) < maxSteps {
		s.Detail, s.At = fmt.Sprintf(format, args...), t.now().Sub(t.start)
		t.steps = append(t.steps, s)
	}
}

// PublicSteps returns a copy of the steps so far, with Public as Detail where it is set.
func (t *Trace) PublicSteps() []Step {
	steps := t.Steps()
	for i, s := range steps {
		steps[i].Detail = cmp.Or(s.Public, s.Detail)
	}
	return steps
}

// Steps returns a copy of the steps so far.
func (t *Trace) Steps() []Step {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Step(nil), t.steps...)
}
