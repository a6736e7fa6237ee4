package formats_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// oneCached implements api.Caches with one entry.
type oneCached struct{}

func (oneCached) Stats() any {
	return map[string]any{"caches": map[string]any{"answers": map[string]any{
		"lookups":   map[string]int{"hit": 1},
		"evictions": 2, "entries": 3, "bytes": 4,
	}}}
}

func (oneCached) Lookup(uri.URI) ([]api.Entry, error) {
	return []api.Entry{api.NewEntry(resolver.CachedAnswer{
		Key: "urn:a1:b", TTL: time.Minute,
		Locations: []resolver.Location{
			{URI: "https://a.example/", From: &resolver.Source{Language: "en", Authentic: true}},
		},
	})}, nil
}

func (oneCached) Purge(context.Context, resolver.Selection, bool) (int, error) { return 1, nil }

// oneResponse implements api.Responses with one response.
type oneResponse struct{}

func (oneResponse) Lookup(key uri.URI) []api.Response {
	language := "en"
	return []api.Response{{
		Status: 200, Selecting: map[string]*string{"Accept-Language": &language, "Accept": nil}, Age: 1, TTL: -2,
		Size: 3, ETag: `"1"`, LastModified: key.String(), Where: []string{"memory", "disk"}, Tags: []string{"a"},
		Partial: true,
		Purged:  true,
	}}
}

func (oneResponse) Purge(context.Context, adminapi.ResponseSelection, bool) int { return 1 }

func (oneResponse) Explain(_ context.Context, u uri.URI, _ httpmessage.Fields, send bool) (api.Explanation, error) {
	if host, _ := u.Host(); host == "fails.example" {
		return api.Explanation{}, resolver.ErrUnreachable
	}
	reason := &api.Reason{Code: "a", Text: "b", Section: "RFC 9111 section 3", Advice: "c"}
	why := api.Explanation{
		URL: u.String(), Key: u.String(), Spelling: "/%41",
		Site: &api.ExplainedSite{
			Setting: "proxy.sites.0", Host: "www.example.org", Path: "/a",
			Rules: []string{"min_ttl 1m"},
		},
		Outcome: "origin", Reason: reason, Rule: "proxy.sites.0.cache.0", Status: 301, Location: "https://a.example/",
		Responses: []api.ExplainedResponse{{
			Response: oneResponse{}.Lookup(u)[0], Selected: true, Received: "2031-05-01T12:00:00Z",
			FreshUntil: "2031-05-01T12:01:00Z", Lifetime: 60, LifetimeFrom: "max-age",
		}},
	}
	if send {
		why.Sent = &api.SentRequest{Status: 200, CacheStatus: "urnd; fwd=uri-miss", NotStored: reason}
	}
	return why, nil
}

func (oneResponse) Refresh(_ context.Context, key uri.URI) (int, error) {
	if host, _ := key.Host(); host == "fails.example" {
		return 0, resolver.ErrUnreachable
	}
	return 1, nil
}

// newAdminHandler returns the admin handler with a changed configuration.
func newAdminHandler(change func(*admin.Config)) http.Handler {
	config := admin.Config{
		Clients: []netip.Prefix{loopback}, Caches: oneCached{}, Responses: oneResponse{},
		Log:          slog.New(slog.DiscardHandler),
		HasResponses: gateways().Cacheable,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = io.WriteString(w, "up 1\n")
		}),
		Health: func() (unready, degraded []string) { return nil, nil },
		State: func(pages.Writer) status.State {
			return status.State{Severity: status.OK, Verdict: "all is <well>"}
		},
		Sessions: session.New(time.Now),
		Settings: admin.Settings{
			Values: func() any { return map[string]any{"dns": map[string]any{"timeout": "2s"}} },
			Origins: func() any {
				return map[string]any{"settings": []map[string]any{{
					"setting": "dns.timeout", "value": "2s",
					"is_default": true, "origin": "default",
				}}}
			},
			Sections: func() []status.Section {
				return []status.Section{{
					Name: "dns",
					Settings: []status.Setting{{
						Path: "dns.timeout", Value: "<2s>",
						Origin: status.Origin{From: status.FromDefault},
					}},
				}}
			},
		},
	}
	if change != nil {
		change(&config)
	}
	return admin.New(config)
}

// adminRequest sends a request "METHOD TARGET" of a peer with fields "Name: value", and returns the response
// with its body. Its context is already canceled, so that profiles take no time.
func adminRequest(t testing.TB, h http.Handler, peer, request string, fields ...string) (*http.Response, []byte) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8142", peer
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.Bytes()
}
