package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// handleReply is the response document of a handle.
type handleReply struct {
	ResponseCode int
	Handle       string
}

// withHandles maps handles to names of a registry.
func withHandles(c *proxy.Config) {
	c.Names = c.Names.WithOwnedPrefixes([]string{"urn:"})
	c.Handles = route.Handles{{Prefix: "20.500.1", Names: "urn:a1:"}}
	c.CORS = []string{"https://a.example"}
	c.Resolver = resolver.NewCanonical(c.Names,
		resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
			if q.URI.String() != "urn:a1:b" {
				return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound}
			}
			source := &resolver.Source{
				Name:   "registry",
				Record: &resolver.Record{Name: "urn:a1:b", Version: 1, Status: "active"},
			}
			return resolver.Answer{
				Locations: []resolver.Location{{URI: "https://a.example/", From: source}},
				TTL:       time.Hour,
			}, nil
		}))
}

// A denied request gets the same kind of document. Without the setting there is no API of handles.
func TestHandlesAreAdmitted(t *testing.T) {
	s := start(t, func(c *proxy.Config) { withHandles(c); c.Access.Resolve, c.Access.Proxy = nil, nil })
	for _, tt := range []struct {
		s      *server
		method string
		want   int
	}{{s, http.MethodGet, 403}, {start(t, withHandles), http.MethodPost, 405}, {start(t, nil), http.MethodGet, 404}} {
		response := tt.s.ask(t,
			tt.method+" /api/handles/20.500.1/b HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]
		var got handleReply
		_ = json.Unmarshal([]byte(text(t, response)), &got)
		isHandle := response.StatusCode != 404
		if response.StatusCode != tt.want || (got.ResponseCode == 2 && got.Handle == "20.500.1/b") != isHandle {
			t.Errorf("%s: %s, %+v", tt.method, response.Status, got)
		}
	}
	served := start(t, withHandles)
	if response := served.ask(t,
		"HEAD /api/handles/20.500.1/b HTTP/1.1\r\nHost: a\r\n\r\n")[0]; response.StatusCode != 200 ||
		text(t, response) != "" {
		t.Errorf("HEAD: %s", response.Status)
	}
	// Pages of other origins may read all.
	for target, code := range map[string]int{"20.500.1/b": 1, "20.500.1/unknown": 100, "20.500.1": 102} {
		response := served.get(t, "/api/handles/"+target, "Origin: https://a.example", "Accept: text/html")
		var got handleReply
		if err := json.Unmarshal([]byte(text(t, response)), &got); err != nil || got.ResponseCode != code ||
			got.Handle != target ||
			response.Header.Get("Access-Control-Allow-Origin") != "https://a.example" {
			t.Errorf("%s: %s %v, %+v, %v", target, response.Status, response.Header, got, err)
		}
	}
}
