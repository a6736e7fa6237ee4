package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/api"
)

// whyOrigin responds by the last segment of the path.
func whyOrigin(t *testing.T) string {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil // urnd has another clock
		w.Header().Set("ETag", `"1"`)
		switch {
		case strings.HasSuffix(r.URL.Path, "/private"):
			w.Header().Set("Cache-Control", "private")
		case strings.HasSuffix(r.URL.Path, "/nothing"):
			w.Header().Del("ETag")
		case strings.HasSuffix(r.URL.Path, "/nocache"):
			w.Header().Set("Cache-Control", "no-cache")
		case strings.HasSuffix(r.URL.Path, "/language"):
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Vary", "Accept-Language")
		default:
			w.Header().Set("Cache-Control", "max-age=60")
		}
		w.Header().Set("Content-Type", "text/css")
		_, _ = io.WriteString(w, "body")
	}))
	t.Cleanup(origin.Close)
	return origin.URL
}

// TestCacheWhy checks the explanation of how a request is served, by the command and by the API.
func TestCacheWhy(t *testing.T) {
	t.Parallel()
	origin := whyOrigin(t)
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Proxy.Sites = []config.Site{
			{
				Hosts: []string{"www.test"}, Servers: []string{origin}, IgnoreParameters: []string{"utm_*"},
				Cache: []config.SiteCache{
					{Types: []string{"text/html"}, MinTTL: time.Minute},
					{Types: []string{"text/*"}, MaxTTL: 30 * time.Second, StaleFor: time.Minute},
				},
			},
			{Hosts: []string{"www.test"}, Path: "/api"},
			{
				Hosts: []string{"www.test"}, Path: "/old",
				Answer: config.SiteAnswer{Status: 301, Location: "https://new.test{+rest}"},
			},
		}
	})
	for _, tt := range []struct {
		args  string
		wants []string
	}{
		{"http://www.test/a", []string{
			"forwarded to the origin: no response is stored for this key (RFC 9111 section 4)\n",
			"site: proxy.sites.0: www.test, all paths",
			"  rule 1 of cache: types text/*, max_ttl 30s, stale_for 1m0s\n",
			"key: http://www.test/a\n", "stored: nothing\n",
		}},
		{"http://www.test/a?utm_source=x --fetch", []string{
			"sent: the response is 200 (Cache-Status: urnd; fwd=uri-miss; stored; ttl=30)\n  it is stored\n",
			"served from the cache: the stored response that the request selects is fresh (RFC 9111 section 4.2)\n",
			"for the selected response: proxy.sites.0.cache.1\n", "key: http://www.test/a\n", "stored 200: fresh for ",
			"4 bytes, memory, which the request selects\n", "a lifetime of 30s from proxy.sites.0.cache.1\n",
			"  fresh until: ",
		}},
		{"http://www.test/api/private --fetch", []string{
			"  not stored: the response has private, and the cache is shared (RFC 9111 section 5.2.2.7)\n",
			"response_remove: [Cache-Control]", "site: proxy.sites.1: www.test/api\n",
			"  rule 0 of cache: types text/html, min_ttl 1m0s\n",
			"stored: nothing\n",
		}},
		{
			"http://www.test/nothing --fetch",
			[]string{"not stored: the response has no freshness lifetime", "with min_ttl"},
		},
		{
			"http://www.test/nocache --fetch",
			[]string{"forwarded to the origin: the stored response has no-cache", "RFC 9111 section 5.2.2.4"},
		},
		{
			"http://www.test/language --fetch --header Accept-Language:de",
			[]string{"  for requests with Accept-Language: de\n", "served from the cache: "},
		},
		{
			"http://www.test/language --header Accept-Language:en",
			[]string{"no stored response matches the request fields", "stored 200"},
		},
		{
			"http://www.test/language --header Accept-Language:de --header Cache-Control:no-cache",
			[]string{"a request field requires it"},
		},
		{
			"http://www.test/old/x",
			[]string{"response of urnd itself: 301, to https://new.test/x\n", "site: proxy.sites.2: www.test/old\n"},
		},
		{origin + "/a --fetch", []string{
			"site: none of proxy.sites",
			"a lifetime of 1m0s from max-age of the origin (RFC 9111 section 4.2.1)\n",
		}},
	} {
		out, err := run(t, "", append([]string{"cache", "why", "--admin", w.admin}, strings.Fields(tt.args)...)...)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
		}
		for _, want := range tt.wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s has no %q:\n%s", tt.args, want, out)
			}
		}
	}
	w.clock.advance(40 * time.Second)
	status, body := w.adminRequest(t, "GET /api/v1/responses/why?uri=http://www.test/a")
	var why api.Explanation
	if err := json.Unmarshal([]byte(body), &why); err != nil || status != 200 || why.Outcome != "stale" ||
		why.Reason.Code != "stale-while-revalidate" ||
		why.Rule != "proxy.sites.0.cache.1" || why.Site.Setting != "proxy.sites.0" || len(why.Responses) != 1 ||
		why.Responses[0].LifetimeFrom != "override" {
		t.Errorf("%d %v: %s", status, err, body)
	}
	for _, tt := range []struct {
		query string
		want  int
	}{
		{"", 400},
		{"uri=urn:a1:b", 400},
		{"uri=http://www.test/&header=a", 400},
		{"uri=http://www.test/&header=Host:+a", 400},
		{"uri=http://www.test/&header=Transfer-Encoding:+chunked", 400},
		{"uri=http://www.test/&fetch=yes", 400},
		{"uri=http://www.test/&header=A:+1&header=B:+2", 200},
		{"uri=http://127.0.0.1:9/&fetch=true", 502},
	} {
		if status, body := w.adminRequest(t, "GET /api/v1/responses/why?"+tt.query); status != tt.want {
			t.Errorf("%s: %d, want %d: %s", tt.query, status, tt.want, body)
		}
	}
}
