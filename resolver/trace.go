package resolver

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Step is one thing that was done on the way to an answer.
type Step struct {
	Stage  string        // the room: "normalize", "cache", "ddds" ...
	Detail string        // what was done there, for a person
	At     time.Duration // when it was done
	Took   time.Duration // 0 where it was done at once
}

// Trace collects the steps of one query. It travels in the context, so that
// it costs nothing where it was not asked for and is never cached. A nil Trace
// takes no steps. It is safe for concurrent use: a load may go on for others
// after the query that traces it has ended.
type Trace struct {
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	steps []Step
}

// maxSteps bounds a trace.
const maxSteps = 1000

type traceKey struct{}

// WithTrace returns a context that carries a new Trace, and that Trace.
func WithTrace(ctx context.Context, now func() time.Time) (context.Context, *Trace) {
	t := &Trace{now: now, start: now()}
	return context.WithValue(ctx, traceKey{}, t), t
}

// TraceOf returns the trace of ctx, or nil. Ask before building arguments of
// Add: that is what makes a query without trace cheap.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Add notes a step that was done at once.
func (t *Trace) Add(stage, format string, args ...any) { t.AddTook(0, stage, format, args...) }

// AddTook notes a step that took its time.
func (t *Trace) AddTook(took time.Duration, stage, format string, args ...any) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.steps) < maxSteps {
		t.steps = append(t.steps, Step{Stage: stage, Detail: fmt.Sprintf(format, args...), At: t.now().Sub(t.start), Took: took})
	}
}

// Steps returns the steps so far.
func (t *Trace) Steps() []Step {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Step(nil), t.steps...)
}
