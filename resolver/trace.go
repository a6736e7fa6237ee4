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
	Stage  string        // the part of urnd: "normalize", "cache", "ddds" ...
	Code   string        // what it was, for texts in all languages: of the step, or of the negative answer that it got
	Values []any         // of the message of Code, pairs of a name and a text or a number: nothing of the internal network
	Detail string        // for an administrator to read, in English
	Public string        // Detail for everybody, without addresses of the internal network; "" is Detail itself
	At     time.Duration // since the start of the trace
	Took   time.Duration // 0 if it was not measured
	Rule   *Rule         // that the step applied; nil for none
}

// Trace collects the steps of one query. It is a value of the context, so that it costs
// nothing unless requested, and is never cached. A nil Trace discards steps. It is safe
// for concurrent use: a load may continue for other callers after the traced query has
// ended.
type Trace struct {
	now   func() time.Time
	start time.Time

	explains atomic.Bool

	mu    sync.Mutex
	steps []Step
}

// maxSteps bounds the steps of a trace; further ones are discarded.
const maxSteps = 1000

// options are what a context says about a resolution. They are one value, since each look-up
// in a context takes time on the way of every request.
type options struct {
	trace *Trace // nil where the resolution is not traced
	fresh bool   // caches are not used
	span  string // see WithSpan
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

// TraceOf returns the trace of ctx, or nil. Check for nil before building arguments of
// Add, so that a query without trace is cheap.
func TraceOf(ctx context.Context) *Trace { return optionsOf(ctx).trace }

// WithSpan returns a context of a span of urnd's own tracing, by the identifier that requests to
// servers carry (W3C Trace Context, traceparent).
func WithSpan(ctx context.Context, traceparent string) context.Context {
	o := optionsOf(ctx)
	o.span = traceparent
	return context.WithValue(ctx, optionsKey{}, o)
}

// SpanOf returns the identifier of WithSpan, or "".
func SpanOf(ctx context.Context) string { return optionsOf(ctx).span }

// Explain makes t an explanation: where an answer is cached, the name is resolved once more
// only to show how.
func (t *Trace) Explain() { t.explains.Store(true) }

// Add adds a step with its detail, at the time that it is now. Where the detail may have addresses of the internal network, Public of the step is
// what everybody may read.
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

// PublicSteps returns a copy of the steps so far, with the details that everybody may read.
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
