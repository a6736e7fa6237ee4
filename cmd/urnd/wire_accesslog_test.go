package main

import (
	"io"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/proxy"
)

func TestUserOf(t *testing.T) {
	const basic, other = "Basic bWU6c2VjcmV0", "Basic eW91OnNlY3JldA==" // me:secret, you:secret
	for _, tt := range []struct {
		header http.Header
		want   string
	}{
		{nil, ""},
		{http.Header{"Authorization": {basic}}, "me"},
		{http.Header{"Authorization": {basic, other}}, "me"},
		{http.Header{"Proxy-Authorization": {other}, "Authorization": {basic}}, "you"},
		{http.Header{"Proxy-Authorization": {"Bearer x"}, "Authorization": {basic}}, "me"},
		{http.Header{"Proxy-Authorization": {}, "Authorization": {"Basic x"}}, ""},
	} {
		if got := userOf(tt.header); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.header, got, tt.want)
		}
	}
}

func TestRequestsAreObservedWithoutAllocation(t *testing.T) {
	log := accesslog.New(io.Discard, "json", nil)
	defer log.Close()
	at := time.Unix(4e9, 0)
	observe := observers{newDependencies().metrics}.logged(log, func() time.Time { return at })
	e := &proxy.Event{
		Request: &http.Request{Method: http.MethodGet, RequestURI: "/urn:ietf:rfc:2648", Proto: "HTTP/1.1", Header: http.Header{"User-Agent": {"a"}}},
		Client:  netip.MustParseAddr("2001:db8::1"), Form: "path", Cache: "hit", Status: http.StatusFound, Took: time.Microsecond,
	}
	if n := testing.AllocsPerRun(1000, func() { observe(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
