package main

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver/scheme"
)

// request counts one request of a client.
func (o observers) request(e *proxy.Event) {
	if e.Fast {
		o.metrics.FastRequest(e.Form, e.Service.String(), e.Status, e.Took)
		return
	}
	o.metrics.Request(e.Form, e.Service.String(), e.Status, e.Took)
}

// logged returns an observer of requests that writes to a log too, where there is one.
func (o observers) logged(access *accesslog.Log, now func() time.Time) func(*proxy.Event) {
	if access == nil {
		return o.request
	}
	return func(e *proxy.Event) {
		o.request(e)
		access.Write(entryOf(e, now()))
	}
}

// entryOf returns the entry of an event in access logs.
func entryOf(e *proxy.Event, at time.Time) accesslog.Entry {
	return accesslog.Entry{
		Scheme: e.Scheme, Host: e.Host, Server: withoutZone(e.Server), Forwarded: isForwarded(e.Form), Refused: e.Err != nil,
		Time: at, Took: e.Took, Client: e.Client, User: e.User, Method: e.Method, Target: e.Target, Proto: e.Proto,
		Status: e.Status, Bytes: e.Bytes, Cache: cmp.Or(e.Cache, "bypass"), Rule: e.Rule, Form: e.Form, Service: e.Service.String(), RequestID: e.ID,
		Referer: e.Referer, UserAgent: e.UserAgent, Type: e.Type,
	}
}

// withoutZone returns an address without its zone, which is of this machine, and as one of IPv4 where it is.
func withoutZone(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// isForwarded reports whether a form is that of requests for origins.
func isForwarded(form string) bool {
	return form == "forward" || form == "gateway" || form == "connect" || form == "fetch"
}

// observedHandler is a scheme.Handler whose outcomes are observed.
type observedHandler struct {
	scheme.Handler
	observe func(error, time.Duration)
	now     func() time.Time
}

// Fetch implements scheme.Handler.
func (o observedHandler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	start := o.now()
	resource, err := o.Handler.Fetch(ctx, r)
	o.observe(err, o.now().Sub(start))
	return resource, err
}
