package main

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/scheme"
)

// observers pass on to metrics what the rooms of the house have to tell.
type observers struct {
	metrics *metrics.Metrics
}

func (o observers) request(e *proxy.Event) {
	o.metrics.Request(e.Form, e.Service.String(), e.Status, e.Took)
}

func (o observers) query(e ddds.Exchange) { o.metrics.Query(e.Server, e.Type, e.Rcode, e.Took) }

func (o observers) ddds() ddds.Observer {
	return ddds.Observer{Step: o.metrics.Step, Passed: func(reason ddds.Reason) { o.metrics.Discard(string(reason)) }}
}

// gateway returns what a gateway is to tell.
func (o observers) gateway(name string) func(error, time.Duration) {
	return func(err error, took time.Duration) { o.metrics.Exchange(name, outcomeOf(err), took) }
}

// outcomeOf says in one word what came of an exchange.
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
	return "failed"
}

// origins is a scheme.Handler that tells how fetching went.
type origins struct {
	scheme.Handler
	told func(error, time.Duration)
	now  func() time.Time
}

// Fetch implements scheme.Handler.
func (o origins) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	start := o.now()
	resource, err := o.Handler.Fetch(ctx, r)
	o.told(err, o.now().Sub(start))
	return resource, err
}

// cacheMetrics puts the counts of a cache into words.
func cacheMetrics(name string, s cache.Stats) metrics.Cache {
	return metrics.Cache{
		Name: name, Evictions: s.Evictions, Entries: s.Entries, Bytes: s.Bytes,
		Lookups: map[string]uint64{
			"hit": s.Hits, "negative": s.Negative, "stale": s.Stale, "miss": s.Misses, "collapsed": s.Collapsed, "failure": s.Failures,
		},
	}
}
