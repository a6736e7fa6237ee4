package httpcache_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// TestWhy: Why predicts what Serve then does.
func TestWhy(t *testing.T) {
	s := newSite(t, nil)
	overrides := []httpcache.Override{
		{Statuses: []int{404}},
		{MaxLifetime: 30 * time.Second, WhileRevalidate: 30 * time.Second},
	}
	asks := func(method string, lines ...string) *httpcache.Request {
		return &httpcache.Request{
			Request: httpmessage.Request{Method: method, Fields: fields(lines...)}, Key: target, Overrides: overrides,
		}
	}
	s.sends(200, "en", "Cache-Control: max-age=60", "Vary: Accept-Language", `ETag: "en"`)
	s.get("Accept-Language: en")
	s.sends(200, "de", "Cache-Control: max-age=60", "Vary: Accept-Language", `ETag: "de"`)
	s.request(asks(http.MethodGet, "Accept-Language: de"))
	began := s.clock.now()
	s.clock.advance(20 * time.Second)
	withBody := asks(http.MethodGet)
	withBody.Body = io.NopCloser(strings.NewReader("a"))
	for _, test := range []struct {
		name      string
		request   *httpcache.Request
		pass      bool
		later     time.Duration
		forwarded string
		stale     bool
		selected  int
		rule      int
	}{
		{"nothing", asks(http.MethodGet), false, 0, "vary-miss", false, -1, -1},
		{"the last one", asks(http.MethodGet, "Accept-Language: de"), false, 0, "", false, 0, 1},
		{"another one", asks(http.MethodHead, "Accept-Language: en"), false, 0, "", false, 1, 1},
		{
			"the client's no-cache", asks(http.MethodGet, "Accept-Language: en", "Cache-Control: no-cache"), false, 0,
			"request", false, 1, 1,
		},
		{
			"the client's no-store", asks(http.MethodGet, "Accept-Language: en", "Cache-Control: no-store"), false, 0,
			"request", false, 1, 1,
		},
		{"If-Match", asks(http.MethodGet, "Accept-Language: en", "If-Match: *"), false, 0, "request", false, 1, 1},
		{"not by the cache", asks(http.MethodGet, "Accept-Language: en"), true, 0, "bypass", false, 1, 1},
		{"POST", asks(http.MethodPost, "Accept-Language: en"), false, 0, "method", false, -1, -1},
		{"content", withBody, false, 0, "bypass", false, -1, -1},
		{
			"stale, to be validated", asks(http.MethodGet, "Accept-Language: en"), false, 40 * time.Second, "stale", false,
			1, 1,
		},
		{"stale, while it is validated", asks(http.MethodGet, "Accept-Language: de"), false, 0, "", true, 0, 1},
	} {
		s.clock.advance(test.later)
		test.request.Bypass = test.pass
		got := s.cache.Explain(test.request)
		if got.Forwarded != test.forwarded || got.Stale != test.stale || got.Selected != test.selected ||
			got.Rule != test.rule || len(got.Stored) != 2 {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	stored := s.cache.Explain(asks(http.MethodGet)).Stored
	for i, want := range []struct {
		lifetime time.Duration
		source   string
	}{{30 * time.Second, "override"}, {time.Minute, "max-age"}} {
		one := stored[i]
		if one.Lifetime != want.lifetime || one.Source.String() != want.source || !one.Received.Equal(began) ||
			!one.FreshUntil.Equal(began.Add(want.lifetime)) || !one.InMemory || one.OnDisk || one.Size != 2 {
			t.Errorf("%d: %+v", i, one)
		}
	}
	s.fails(errOrigin)
	if got := s.request(asks(http.MethodGet, "Accept-Language: de")); got.body != "de" ||
		got.Outcome.Detail != "stale-while-revalidate" {
		t.Errorf("%q, %s", got.body, got.Outcome.Status("urnd"))
	}
	if got := s.cache.Explain(&httpcache.Request{
		Request: httpmessage.Request{Method: http.MethodGet},
		Key:     "http://a.example/none",
	}); got.Forwarded != "uri-miss" || got.Selected != -1 || got.Stored != nil {
		t.Errorf("%+v", got)
	}
}

// TestNotStored checks the reason why a response is not stored, as in Cache-Status.
func TestNotStored(t *testing.T) {
	const persistent = "Cache-Control: max-age=60"
	for _, test := range []struct {
		request  string // fields, separated by " | "
		status   int
		response string // fields, separated by " | "
		want     string // "" if stored
	}{
		{"", 200, persistent, ""},
		{"Authorization: Basic x", 200, persistent, "authorization"},
		{"", 200, persistent + ", no-store", "no-store"},
		{"", 200, persistent + ", private", "private"},
		{"", 200, persistent + ` | Vary: *`, "vary"},
		{"", 299, persistent + ", must-understand", "must-understand"},
		{"", 302, "X-A: 1", "status"},
		{"", 200, "X-A: 1", "freshness"},
		{"", 200, persistent + strings.Repeat(" | X-A: 1", 1000), "fields"},
		{`If-None-Match: "1"`, 304, persistent, "not-modified"},
		{"Range: bytes=0-1,4-5", 206, persistent + " | Content-Type: multipart/byteranges; boundary=a", "parts"},
		{"Range: bytes=0-1", 206, persistent + " | Content-Range: bytes */4", "content-range"},
		{"Range: bytes=9-", 416, persistent, "range"},
		{"X-Unknown: 1", 200, persistent, "unkeyed"},
		{"Cookie: a=b", 200, `ETag: "1"`, "cookie"},
		{"", 200, `ETag: "1" | Set-Cookie: a=b`, "set-cookie"},
		{"Origin: https://a.example", 200, persistent + " | Access-Control-Allow-Origin: https://a.example", "origin"},
		{"", 429, persistent, "client-error"},
		{"Cookie: a=b", 404, persistent, "error"},
		{"", 200, persistent + " | X-Large: 1", "size"},
	} {
		s := newSite(t, func(c *httpcache.Config) {
			if strings.Contains(test.response, "X-Large") {
				c.MaxObject = 1
			}
		})
		s.sends(test.status, "ab", splitFields(test.response)...)
		g := s.get(splitFields(test.request)...)
		if g.err != nil {
			t.Errorf("%s: %v", test.want, g.err)
			continue
		}
		want := "urnd; fwd=uri-miss"
		switch test.want {
		case "":
			want += "; stored; ttl=60"
		case "size":
			want += "; ttl=60; detail=size"
		default:
			want += "; detail=" + test.want
		}
		if got := g.Outcome.Status("urnd"); got != want || g.Outcome.NotStored.Code() != test.want ||
			len(s.cache.Lookup(target)) > 0 != (test.want == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
