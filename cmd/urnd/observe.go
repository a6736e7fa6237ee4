package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/internal/accesslog"
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

// logged returns what tells of requests to a log too, where there is one.
func (o observers) logged(access *accesslog.Log, now func() time.Time) func(*proxy.Event) {
	if access == nil {
		return o.request
	}
	return func(e *proxy.Event) {
		o.request(e)
		access.Write(entryOf(e, now()))
	}
}

// entryOf puts an event into the words of access logs.
func entryOf(e *proxy.Event, at time.Time) accesslog.Entry {
	r := e.Request
	entry := accesslog.Entry{
		Time: at, Took: e.Took, Method: r.Method, Target: r.RequestURI, Proto: r.Proto,
		Status: e.Status, Bytes: e.Bytes, Cache: e.Cache.String(), Form: e.Form, Service: e.Service.String(), RequestID: e.ID,
		Referer: r.Header.Get("Referer"), UserAgent: r.Header.Get("User-Agent"), Type: e.Type,
	}
	if e.Client.IsValid() {
		entry.Client = e.Client.String()
	}
	for _, field := range []string{"Proxy-Authorization", "Authorization"} { // the user may be made up, where the status is 407 or 401
		asked := http.Request{Header: http.Header{"Authorization": r.Header[field]}}
		if user, _, ok := asked.BasicAuth(); ok {
			entry.User = user
			break
		}
	}
	return entry
}

// query returns what is to be told of questions to DNS servers.
func (o observers) query(h *health) func(ddds.Exchange) {
	return func(e ddds.Exchange) {
		o.metrics.Query(e.Server, e.Type, e.Rcode, e.Took)
		h.dns(e.Rcode)
	}
}

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
