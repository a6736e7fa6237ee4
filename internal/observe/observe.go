// Package observe updates metrics by what the parts of a resolution tell.
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

// Queries returns the observer of DNS queries. queried is called with the outcome of each, too; nil is not.
func Queries(m *metrics.Metrics, queried func(answered bool)) func(ddds.Exchange) {
	return func(e ddds.Exchange) {
		m.Query(e.Server, e.Type, e.Rcode, e.Took)
		if e.Rcode != "canceled" && queried != nil {
			queried(e.Rcode != "timeout" && e.Rcode != "error")
		}
	}
}

// Rules returns the observer of the rules of DDDS.
func Rules(m *metrics.Metrics) ddds.Observer {
	return ddds.Observer{Step: m.Step, Skipped: func(reason ddds.Reason) { m.Discard(string(reason)) }}
}

// Exchanges returns the observer of the exchanges of a client of that name.
func Exchanges(m *metrics.Metrics, name string) func(error, time.Duration) {
	return func(err error, took time.Duration) { m.Exchange(name, outcomeOf(err), took) }
}

// outcomeOf returns the outcome of an exchange in one word.
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
	var refusal *scheme.Refusal
	if errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError {
		return "found" // a response of its server, as a status of HTTP is
	}
	return "failed"
}

// Handler is a scheme.Handler whose outcomes are observed. All fields must be set.
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
