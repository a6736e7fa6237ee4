package main

import (
	"cmp"
	"context"
	"net/http"
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
	r := e.Request
	return accesslog.Entry{
		Scheme: e.Scheme, Host: r.Host, Server: withoutZone(e.Server), Forwarded: isForwarded(e.Form), Refused: e.Err != nil,
		Time: at, Took: e.Took, Client: e.Client, User: userOf(r.Header), Method: r.Method, Target: r.RequestURI, Proto: r.Proto,
		Status: e.Status, Bytes: e.Bytes, Cache: cmp.Or(e.Cache, "bypass"), Rule: e.Rule, Form: e.Form, Service: e.Service.String(), RequestID: e.ID,
		Referer: firstOf(r.Header["Referer"]), UserAgent: firstOf(r.Header["User-Agent"]), Type: e.Type,
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

// userOf returns the user whom a request names, "" for none. It is not verified where the status is 407 or 401.
func userOf(header http.Header) string {
	for _, credentials := range [...][]string{header["Proxy-Authorization"], header["Authorization"]} {
		if len(credentials) == 0 {
			continue
		}
		request := http.Request{Header: http.Header{"Authorization": credentials}}
		if user, _, ok := request.BasicAuth(); ok {
			return user
		}
	}
	return ""
}

func firstOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
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
