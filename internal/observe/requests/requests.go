// Package requests counts, logs and traces the requests of clients.
package requests

import (
	"cmp"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy"
)

// Observer returns an observer of requests that counts them, and writes them to the access logs, if any.
func Observer(m *metrics.Metrics, access accesslog.Set, now func() time.Time) func(*proxy.Event) {
	count := func(e *proxy.Event) {
		m.Request(e.Form, e.Service.String(), e.Status, e.Took)
	}
	if len(access) == 0 {
		return count
	}
	return func(e *proxy.Event) {
		count(e)
		access.Write(entryOf(e, now()))
	}
}

// entryOf returns the entry of an event in access logs.
func entryOf(e *proxy.Event, at time.Time) accesslog.Entry {
	return accesslog.Entry{
		Scheme: e.Scheme, Host: e.Host, Server: withoutZone(e.Server), Forwarded: isForwarded(e.Form), Refused: e.Err != nil, Denied: isDenied(e),
		Time: at, Took: e.Took, Client: e.Client, User: e.User, Method: e.Method, Target: e.Target, Proto: e.Proto,
		Status: e.Status, Bytes: e.Bytes, Cache: cmp.Or(e.Cache, "bypass"), Rule: e.Rule, Form: e.Form, Service: e.Service.String(),
		RequestID: e.ID, Referer: e.Referer, UserAgent: e.UserAgent, Type: e.Type,
	}
}

// isDenied reports whether urnd itself has refused a request by its rules.
func isDenied(e *proxy.Event) bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests:
		return e.Err != nil
	default:
		return e.Denied
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
