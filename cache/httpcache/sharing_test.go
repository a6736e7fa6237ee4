package httpcache_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// TestStoredForOthers checks which responses to one client may be stored for others: docs/security.md.
func TestStoredForOthers(t *testing.T) {
	const persistent = "Cache-Control: max-age=60"
	const modified = "Last-Modified: Sun, 01 Nov 2026 00:00:00 GMT"
	long := strings.Repeat("a", 1<<10)
	for _, test := range []struct {
		name     string
		request  string // fields, separated by " | "
		status   int
		response string // fields, separated by " | "
		want     bool
	}{
		{"nothing", "", 200, persistent, true},
		{
			"safelisted fields",
			"User-Agent: a | Accept: b | Accept-Language: c | Referer: d | Sec-Fetch-Site: cross-site | " +
				"Traceparent: e | Via: 1.1 f", 200, persistent, true,
		},
		{"an unknown field", "X-Unknown: 1", 200, persistent, false},
		{"another host", "X-Forwarded-Host: evil.example", 200, persistent, false},
		{"another host, for CGI", "X_Forwarded_Host: evil.example", 200, persistent, false},
		{"another method", "X_HTTP_Method_Override: DELETE", 200, persistent, false},
		{"another protocol", "X-Forwarded-Protocol: https", 200, persistent, false},
		{"another path", "SCRIPT_NAME: /evil", 200, persistent, false},
		{"another client", "X-Forwarded-For: 192.0.2.1", 200, persistent, false},
		{"another client, by its address", "X-Real-IP: 192.0.2.1", 200, persistent, false},
		{"what programs send by script", "X-Requested-With: XMLHttpRequest", 200, persistent, false},
		{"a safelisted field in the spelling of CGI", "User_Agent: a", 200, persistent, false},
		{
			"a negotiated field in the spelling of CGI", "Accept_Language: fr", 200,
			persistent + " | Vary: Accept-Language",
			false,
		},
		{"named by Vary", "X-Unknown: 1", 200, persistent + " | Vary: X-Unknown", true},
		{"one of two named by Vary", "X-Unknown: 1 | X-Other: 1", 200, persistent + " | Vary: X-Unknown", false},
		{"configured", "Configured: 1", 200, persistent, true},
		{"configured, as CGI has it", "X_Configured_A: 1", 200, persistent, true},
		{"configured by its beginning", "Npm-Session: 1", 200, persistent, true},
		{"the type of no body", "Content-Type: text/plain", 200, persistent, false},

		{"a cookie, explicit freshness", "Cookie: a=b", 200, persistent, true},
		{"a cookie, Expires", "Cookie: a=b", 200, "Expires: Sun, 22 Nov 2026 10:00:00 GMT", true},
		{"a cookie, heuristic freshness", "Cookie: a=b", 200, modified, false},
		{"a cookie, a validator", "Cookie: a=b", 200, `ETag: "1"`, false},
		{"a cookie, public alone", "Cookie: a=b", 200, "Cache-Control: public | " + modified, false},
		{"no cookie, heuristic freshness", "", 200, modified, true},
		{"a cookie is set, no freshness", "", 200, modified + " | Set-Cookie: a=b", false},
		{"a cookie is set, explicit freshness", "", 200, persistent + " | Set-Cookie: a=b", true},

		{"a part that is there", "Range: bytes=0-1", 206, persistent + " | Content-Range: bytes 0-1/2", true},
		{"the whole for a part", "Range: bytes=0-1", 200, persistent, true},
		{"a part that is not there", "Range: bytes=99999-", 416, persistent, false},
		{"a redirect for a part", "Range: bytes=0-1", 301, persistent, false},
		{"not found for a part", "Range: bytes=0-1", 404, persistent, false},

		{"an error", "", 404, persistent, true},
		{"an error with freshness by heuristics", "", 410, modified, true},
		{"an error of the server", "", 500, persistent, true},
		{"an error to a cookie", "Cookie: a=b", 400, persistent, false},
		{"an error to a condition", `If-None-Match: "a"`, 404, persistent, false},
		{
			"an error to values of 1 KiB", "User-Agent: " + long[:512] + " | Referer: " + long[:512], 400,
			persistent, true,
		},
		{
			"an error to larger values", "User-Agent: " + long[:512] + " | Referer: " + long[:513], 400,
			persistent, false,
		},
		{"an error to credentials", "Authorization: Bearer x", 401, persistent + ", must-revalidate", false},
		{
			"an error to many fields", strings.TrimSuffix(strings.Repeat("Referer: | ", 41), " | "), 400,
			persistent, false,
		},
		{"an error to long names", "Sec-" + strings.Repeat("a", 2<<10) + ": 1", 400, persistent, false},
		{"406", "Accept: x/x", 406, persistent, false},
		{"408", "", 408, persistent, false},
		{"416", "", 416, persistent, false},
		{"421", "", 421, persistent, false},
		{"425", "", 425, persistent, false},
		{"429", "", 429, persistent, false},
		{"431", "", 431, persistent, false},

		{
			"for the pages of all sites", "Origin: https://a.example", 200,
			persistent + " | Access-Control-Allow-Origin: *",
			true,
		},
		{"for no pages of other sites", "Origin: https://a.example", 200, persistent, true},
		{
			"for the pages of one site", "Origin: https://a.example", 200,
			persistent + " | Access-Control-Allow-Origin: https://a.example", false,
		},
		{
			"for the pages of the site that asks", "Origin: https://a.example", 200,
			persistent + " | Access-Control-Allow-Origin: https://a.example | Vary: Origin", true,
		},
		{"a refusal of a page", "Origin: https://a.example", 403, persistent, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, func(c *httpcache.Config) {
				c.Safelisted = []string{"configured", "x-configured-a", "npm-*"}
			})
			s.sends(test.status, "ab", splitFields(test.response)...)
			request := fields(splitFields(test.request)...)
			g := s.request(&httpcache.Request{
				Request: httpmessage.Request{Method: http.MethodGet, Fields: request},
				Key:     target,
			})
			if g.err != nil {
				t.Fatal(g.err)
			}
			if got := len(s.cache.Lookup(target)) > 0; got != test.want {
				t.Errorf("stored: %t, want %t", got, test.want)
			}
		})
	}
}

func splitFields(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, " | ")
}

// A fresh stored response is used regardless of other request fields, and a stale one stays unchanged.
func TestPrivateRequests(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "all", "Cache-Control: max-age=60", `ETag: "1"`)
	s.expect(s.get(), 200, "all", false)
	s.expect(s.get("X-Forwarded-Host: evil.example"), 200, "all", true)
	s.clock.advance(2 * 60e9)
	s.sends(200, "evil", "Cache-Control: max-age=60", `ETag: "2"`)
	s.expect(s.get("X-Forwarded-Host: evil.example"), 200, "evil", false)
	if header := s.last().header; header.Get("If-None-Match") != "" {
		t.Errorf("it validates what others get: %v", header)
	}
	if g := s.do("HEAD", "X-Forwarded-Host: evil.example"); g.err != nil || g.Outcome.Hit() {
		t.Errorf("HEAD: %v, %s", g.err, g.Outcome.Status("urnd"))
	}
	s.sends(304, "", "Cache-Control: max-age=60", `ETag: "1"`, "X-Made-By: victim")
	s.expect(s.get(), 200, "all", false)
	s.sends(200, "evil", "Cache-Control: max-age=60")
	s.expect(s.get("X-Forwarded-Host: evil.example"), 200, "all", true)
}

// A stale response in use is not refreshed by the request of another client with unknown fields: RFC 5861
// section 3.
func TestPrivateRequestsRefreshNothing(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "all", "Cache-Control: max-age=1, stale-while-revalidate=600")
	s.expect(s.get(), 200, "all", false)
	s.clock.advance(60e9)
	s.sends(200, "evil", fresh)
	s.expect(s.get("X-Forwarded-Host: evil.example"), 200, "all", true)
	if s.cache.Flights(target) != 0 || s.count() != 1 {
		t.Errorf("%d requests", s.count())
	}
}

// Cookies that a response sets are for the requesting client, unless the origin marks them as shared.
func TestSetCookie(t *testing.T) {
	for control, want := range map[string]string{
		"max-age=60": "", "public, max-age=60": "a=b", "s-maxage=60": "a=b", "max-age=60, no-cache=Set-Cookie": "",
	} {
		s := newSite(t, nil)
		s.sends(200, "a", "Cache-Control: "+control, "Set-Cookie: a=b", `ETag: "1"`)
		if g := s.get(); g.field("Set-Cookie") != "a=b" {
			t.Errorf("%s: the requesting client gets %q", control, g.field("Set-Cookie"))
		}
		if g := s.get(); !g.Outcome.Hit() || g.field("Set-Cookie") != want {
			t.Errorf("%s: others get %q, want %q", control, g.field("Set-Cookie"), want)
		}
		s.clock.advance(2 * 3600e9)
		s.sends(304, "", "Cache-Control: "+control, "Set-Cookie: c=d", `ETag: "1"`)
		if g := s.get(); g.field("Set-Cookie") != "c=d" {
			t.Errorf("%s: the validating client gets %q", control, g.field("Set-Cookie"))
		}
		if want != "" {
			want = "c=d"
		}
		if g := s.get(); !g.Outcome.Hit() || g.field("Set-Cookie") != want {
			t.Errorf("%s: then others get %q, want %q", control, g.field("Set-Cookie"), want)
		}
	}
}

// A 304 to a request with a cookie neither makes a shared response fresh by a heuristic nor removes it.
func TestCookieValidates(t *testing.T) {
	s := newSite(t, nil)
	const modified = "Last-Modified: Sun, 22 Nov 2026 07:00:00 GMT" // an hour ago: fresh for 6 minutes
	s.sends(200, "a", modified)
	s.expect(s.get(), 200, "a", false)
	s.clock.advance(2 * 3600e9)
	s.sends(304, "", modified)
	s.expect(s.get("Cookie: a=b"), 200, "a", false)
	s.expect(s.get("Cookie: a=b"), 200, "a", false)
	s.expect(s.get(), 200, "a", false)
	s.expect(s.get("Cookie: a=b"), 200, "a", true)
}

// A request with credentials, or one that gets another response because of its cookie, neither removes nor
// outdates the shared response: RFC 9111 sections 3.5 and 4.3.5.
func TestCredentialsChangeNothing(t *testing.T) {
	const control = "Cache-Control: max-age=60, stale-while-revalidate=600"
	for _, test := range []struct {
		name, method string
		fields       []string
		age          time.Duration
		status       int
		body         string
		response     []string
	}{
		{
			"validation", "GET",
			[]string{"Authorization: Basic x", "Cache-Control: no-cache"},
			0, 304, "",
			[]string{control, `ETag: "1"`},
		},
		{"a refresh", "GET", []string{"Authorization: Basic x"}, 2 * time.Minute, 401, "", nil},
		{
			"HEAD with credentials", "HEAD",
			[]string{"Authorization: Basic x", "Cache-Control: no-cache"},
			0, 200, "",
			[]string{control, "Content-Length: 99"},
		},
		{
			"HEAD with a cookie", "HEAD",
			[]string{"Cookie: a=b", "Cache-Control: no-cache"},
			0, 200, "",
			[]string{"Content-Length: 99"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, nil)
			header := []string{control, `ETag: "1"`}
			if len(test.response) == 1 { // no freshness of its own, so that the response to a cookie cannot be shared
				header = []string{"Last-Modified: Sun, 01 Nov 2026 00:00:00 GMT"}
			}
			s.sends(200, "page", header...)
			s.expect(s.get(), 200, "page", false)
			s.clock.advance(test.age)
			s.sends(test.status, test.body, test.response...)
			if g := s.do(test.method, test.fields...); g.err != nil {
				t.Fatal(g.err)
			}
			s.eventually("nothing is under way", func() bool { return s.cache.Flights(target) == 0 })
			s.fails(errOrigin)
			if g := s.get(); g.err != nil || g.body != "page" {
				t.Errorf("another client gets %v %q", g.err, g.body)
			}
		})
	}
}

// An origin's response to the cache's own request for the rest of a part is given to no client.
func TestRestIsRefused(t *testing.T) {
	s := newSite(t, nil)
	s.sends(206, "ab", fresh, `ETag: "1"`, "Content-Range: bytes 0-1/4")
	s.expect(s.get("Range: bytes=0-1"), 206, "ab", false)
	s.respond = func(_ context.Context, r sent) (*httpmessage.Response, error) {
		if r.header.Get("Range") != "" {
			return s.response(410, "gone", fresh), nil
		}
		return s.response(200, "abcd", fresh, `ETag: "1"`), nil
	}
	s.expect(s.get(), 200, "abcd", false)
	s.expect(s.get("Range: bytes=2-3"), 206, "cd", true)
}

// A response selected by an Accept-Language with more than language ranges is for that value alone, regardless
// of its language.
func TestLanguagesOfOthers(t *testing.T) {
	s := newSite(t, nil)
	s.sends(200, "evil", "Cache-Control: max-age=60", "Vary: Accept-Language", "Content-Language: en")
	s.expect(s.get("Accept-Language: <script>evil</script>"), 200, "evil", false)
	s.sends(200, "good", "Cache-Control: max-age=60", "Vary: Accept-Language", "Content-Language: en")
	s.expect(s.get("Accept-Language: en, de;q=0.5"), 200, "good", false)
	s.expect(s.get("Accept-Language: en"), 200, "good", true)
}
