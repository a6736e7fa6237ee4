package main

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

// observers update metrics by the events of the parts of urnd.
type observers struct {
	metrics *metrics.Metrics
}

// query returns the observer of DNS queries.
func (o observers) query(queried func(answered bool)) func(ddds.Exchange) {
	return func(e ddds.Exchange) {
		o.metrics.Query(e.Server, e.Type, e.Rcode, e.Took)
		if e.Rcode != "canceled" && queried != nil {
			queried(e.Rcode != "timeout" && e.Rcode != "error")
		}
	}
}

func (o observers) ddds() ddds.Observer {
	return ddds.Observer{Step: o.metrics.Step, Skipped: func(reason ddds.Reason) { o.metrics.Discard(string(reason)) }}
}

// gateway returns the observer of a gateway.
func (o observers) gateway(name string) func(error, time.Duration) {
	return func(err error, took time.Duration) { o.metrics.Exchange(name, outcomeOf(err), took) }
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
