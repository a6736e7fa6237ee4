// Package requests observes the requests of clients. A proxy.Event enters for each completed request; it is
// counted in package metrics, written to the access logs and traced as a span of OpenTelemetry.
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

// Observer returns an observer that counts requests and writes them to the access logs, if any.
func Observer(m *metrics.Metrics, access accesslog.Set, now func() time.Time) func(*proxy.Event) {
	count := func(e *proxy.Event) {
		m.Request(e.Form, e.Service.String(), e.Status, e.Duration)
	}
	if len(access) == 0 {
		return count
	}
	return func(e *proxy.Event) {
		count(e)
		access.Write(entryOf(e, now()))
	}
}

// entryOf returns the access log entry of an event.
func entryOf(e *proxy.Event, at time.Time) accesslog.Entry {
	return accesslog.Entry{
		Scheme: e.Scheme, Host: e.Host, Server: withoutZone(e.Server), Forwarded: isForwarded(e.Form),
		Refused: e.Err != nil, Denied: isDenied(e), Time: at, Took: e.Duration, Client: e.Client, User: e.User,
		Method: e.Method, Target: e.Target, Proto: e.Proto, Status: e.Status, Bytes: e.Bytes,
		Cache: cmp.Or(e.Cache, "bypass"), Rule: e.Rule, Form: e.Form, Service: e.Service.String(), RequestID: e.ID,
		Referer: e.Referer, UserAgent: e.UserAgent, Type: e.Type,
	}
}

// isDenied reports whether urnd itself has rejected a request according to its rules.
func isDenied(e *proxy.Event) bool {
	switch e.Status {
	case http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests:
		return e.Err != nil
	default:
		return e.Denied
	}
}

// withoutZone removes the zone, which is only valid on this host, and converts an IPv4-mapped address to IPv4.
func withoutZone(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

// isForwarded reports whether requests of a form are for origins.
func isForwarded(form string) bool {
	return form == "forward" || form == "gateway" || form == "connect" || form == "fetch"
}
