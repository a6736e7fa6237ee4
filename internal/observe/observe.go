// Package observe connects other packages to metrics. It provides observer functions for DNS queries, DDDS
// rules (RFC 3401) and exchanges with servers, which count events in a metrics.Metrics, and it converts the
// statistics of caches and the state of the registry to values of package metrics.
package observe

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/scheme"
)

// Queries returns an observer of DNS queries. queried is also called with the result of each query; it may be
// nil.
func Queries(m *metrics.Metrics, queried func(answered bool)) func(ddds.Exchange) {
	return func(e ddds.Exchange) {
		m.Query(e.Server, e.Type, e.Rcode, e.Took)
		if e.Rcode != "canceled" && queried != nil {
			queried(e.Rcode != "timeout" && e.Rcode != "error")
		}
	}
}

// Rules returns an observer of the evaluation of DDDS rules.
func Rules(m *metrics.Metrics) ddds.Observer {
	return ddds.Observer{Step: m.Step, Skipped: func(reason ddds.Reason) { m.Discard(string(reason)) }}
}

// Exchanges returns an observer of the exchanges of the client with this name.
func Exchanges(m *metrics.Metrics, name string) func(error, time.Duration) {
	return func(err error, took time.Duration) { m.Exchange(name, outcomeOf(err), took) }
}

// outcomeOf returns the outcome of an exchange as a label value.
func outcomeOf(err error) string {
	for _, row := range []struct {
		err  error
		word string
	}{
		{nil, "found"},
		{context.Canceled, "canceled"},
		{resolver.ErrNotFound, "not_found"},
		{resolver.ErrGone, "gone"},
		{resolver.ErrUnsupported, "not_offered"},
		{resolver.ErrForbidden, "forbidden"},
		{netguard.ErrForbidden, "forbidden"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, row.err) {
			return row.word
		}
	}
	var refusal *scheme.StatusError
	if errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError {
		return "found" // a response of the server, like an HTTP status
	}
	return "failed"
}

// Handler is a scheme.Handler that reports its outcomes to Observe. All fields are required.
type Handler struct {
	scheme.Handler
	Observe func(error, time.Duration)
	Now     func() time.Time
}

// Fetch implements scheme.Handler.
func (h Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	start := h.Now()
	resource, err := h.Handler.Fetch(ctx, r)
	h.Observe(err, h.Now().Sub(start))
	return resource, err
}
