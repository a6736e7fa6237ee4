package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func TestRedirects(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		target   string
		status   int
		location string
	}{
		{"/urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/URN:IETF:RFC:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/urn:example:a//b/../c%2f", 302, "https://a.example/urn:example:a//b/../c%2F"},
		{"urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"urn:example:a?+r?=q=1", 302, "https://a.example/urn:example:a?q=1"},
		{"/urn:example:a?=q=1#f", 302, "https://a.example/urn:example:a?q=1#f"},
		{"/?uri=urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/?uri=urn%3Aietf%3Arfc%3A2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/uri-res/N2L?urn:ietf:rfc:2648", 303, "https://a.example/urn:ietf:rfc:2648"},
		{"/uri-res/i2l?URN:ietf:rfc:2648", 303, "https://a.example/urn:ietf:rfc:2648"},
		{"/HTTP://Example.COM:80/b/../%7Esmith", 302, "http://example.com/~smith"},
		{"/http://a.example//x//y", 302, "http://a.example//x//y"},
		{"/http://a.example/?a=b&c", 302, "http://a.example/?a=b&c"},
		{"/mailto:A@Example.org", 302, "mailto:A@example.org"},
		// Targets that net/url and http.ServeMux would change.
		{"URN:Example:A", 302, "https://a.example/urn:example:A"},
		{"/news:comp.lang.go", 302, "news:comp.lang.go"},
		{"/urn:x1:a//b", 302, "https://a.example/urn:x1:a//b"},
		{"/http://h.example//x/../y", 302, "http://h.example//y"}, // RFC 3986 section 5.2.4
		{"/?uri=urn:x1:a//b/../c", 302, "https://a.example/urn:x1:a//b/../c"},
		{"/gopher://h.example/1a%09b", 302, "gopher://h.example/1a%09b"}, // the raw form: RFC 4266 section 2.1
		{"/http://A.example:080/%7eb", 302, "http://a.example/~b"},       // normal form: RFC 3986 section 6.2.3
		// RFC 2169 section 2: encoded as sent.
		{"/uri-res/N2L?urn:x1:a%2Db%7E", 303, "https://a.example/urn:x1:a%2Db%7E"},
		// RFC 2169 section 2: all after the first ?.
		{"/uri-res/N2L?urn:x1:a?+r?=q?=1", 303, "https://a.example/urn:x1:a?q?=1"},
		{"/uri-res/I2L?urn:x1:a/b~c&d", 303, "https://a.example/urn:x1:a/b~c&d"}, // RFC 2169 section 2
		{"/uri-res/n2L?urn:x1:a", 303, "https://a.example/urn:x1:a"},             // RFC 2483 section 2.1
		{"/uri-res/L2L?http://B.example", 303, "http://b.example/"},              // RFC 2483 section 4.1: URLs too
	} {
		response := s.get(t, tt.target)
		if response.StatusCode != tt.status || response.Header.Get("Location") != tt.location {
			t.Errorf("%s: %d %s", tt.target, response.StatusCode, response.Header.Get("Location"))
		}
	}
	if body := text(t, s.get(t, "URN:Example:A", "Accept: application/vnd.urnd.trace+json")); !strings.Contains(body,
		`"input": "URN:Example:A"`) {
		t.Errorf("the input is %s", body)
	}
	old := s.ask(t, "GET /uri-res/N2L?urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n")[0]
	if old.StatusCode != 302 {
		t.Errorf("THTTP to an HTTP/1.0 client: %d", old.StatusCode)
	}
}

func TestRedirectFields(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		state           resolver.CacheState
		ttl             time.Duration
		status, control string
	}{
		{resolver.CacheHit, 90 * time.Second, "urnd; hit; ttl=90", "max-age=90"},
		{resolver.CacheMiss, 90 * time.Second, "urnd; fwd=uri-miss; stored; ttl=90", "max-age=90"},
		{resolver.CacheMiss, 0, "urnd; fwd=uri-miss; ttl=0", "no-store"},
		{resolver.CacheCollapsed, time.Second, "urnd; fwd=uri-miss; collapsed; stored; ttl=1", "max-age=1"},
		{resolver.CacheStale, -5 * time.Second, "urnd; hit; detail=stale-on-error; ttl=-5", "max-age=0"},
		{resolver.Uncached, 0, "urnd; fwd=bypass", "no-store"},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{
				Locations: []resolver.Location{{URI: "http://a/", From: &resolver.Source{}}},
				TTL:       tt.ttl, Cache: tt.state,
			}, nil
		}
		header := s.get(t, "/urn:example:a").Header
		if header.Get("Cache-Status") != tt.status || header.Get("Cache-Control") != tt.control {
			t.Errorf("%s: %q, %q", tt.state, header.Get("Cache-Status"), header.Get("Cache-Control"))
		}
	}
}

// The problem document names the byte, the input and the rule, also if the request is rejected before the handler.
func TestBadInput(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		target, input string
		offset        int
		rule          string
	}{
		{"/urn:a", "urn:a", 5, "NID"},
		{"/urn:example:", "urn:example:", 12, "NSS"},
		{"/urn:example:a%zz", "urn:example:a%zz", 13, "pct-encoded"},
		{"/urn:example:a%00", "urn:example:a%00", 13, "NUL"},
		{"/urn:example:a|b", "urn:example:a|b", 13, "path"},
		{"/urn:example:\x7f", "urn:example:\x7f", 12, "path"},
		{"urn:example:a%zz", "urn:example:a%zz", 13, "pct-encoded"},
		{"/no thing:x", "no thing:x", 2, "scheme"},
		{"http://[::1", "http://[::1", 7, "IP-literal"},
		{"/urn:isbn:0395363412", "urn:isbn:0395363412", 18, "check digit"},
		{"/uri-res/N2L", "/uri-res/N2L", 12, "THTTP"},
		{"/api/v1/resolve", "/api/v1/resolve", 15, "parameter"},
		{"/api/v1/resolve?uri=urn:a", "urn:a", 5, "NID"},
	} {
		response := s.get(t, tt.target)
		var got struct {
			Status             int
			Input, Rule        string
			Offset             *int
			Section            string
			Title, Detail, Typ string
		}
		body := text(t, response)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("%q: %v: %s", tt.target, err, body)
			continue
		}
		if response.StatusCode != 400 || response.Header.Get("Content-Type") != "application/problem+json" ||
			got.Status != 400 || got.Input != tt.input || got.Rule != tt.rule || got.Offset == nil ||
			*got.Offset != tt.offset ||
			got.Section == "" || got.Title == "" || got.Detail == "" {
			t.Errorf("%q: %d %s", tt.target, response.StatusCode, body)
		}
	}
}

// A rejection before the handler states the reason also for later requests of a connection.
func TestRefusalOfALaterRequest(t *testing.T) {
	s := start(t, nil)
	good := "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"
	responses := s.ask(t, good, good, "GET /urn:example:a%zz HTTP/1.1\r\nHost: a\r\n\r\n")
	if body := text(t, responses[2]); responses[2].StatusCode != 400 || !strings.Contains(body, `"offset": 13`) {
		t.Errorf("%d %s", responses[2].StatusCode, body)
	}
}

func TestStatus(t *testing.T) {
	s := start(t, nil)
	long := "/urn:example:" + strings.Repeat("a", maxTarget)
	huge := "/urn:example:" + strings.Repeat("a", 64<<10)
	for _, tt := range []struct {
		request string
		err     error
		status  int
	}{
		{"GET /urn:example:a", &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "tried all"}, 404},
		{"GET /urn:example:a", resolver.ErrUnreachable, 502},
		{"GET /urn:example:a", context.DeadlineExceeded, 504},
		{"GET /urn:example:a", errors.New("a bug"), 500},
		{"GET /javascript:alert(1)", nil, 403},
		{"GET /file:///etc/passwd", nil, 403},
		{"GET ftp://a.example/x", nil, 501},
		{"GET /uri-res/N2X?urn:example:a", nil, 501},
		{"GET " + long, nil, 414},
		{"GET " + huge, nil, 414},
		{"POST /urn:example:a", nil, 405},
		{"BREW /urn:example:a", nil, 501}, // RFC 9110 section 15.6.2
		{"PROPFIND /", nil, 501},
		{"CONNECT a.example:0", nil, 400},
		{"GET /urn:example:a HTTP/1.1\r\nX: " + strings.Repeat("a", 64<<10) + "\r\nY: z", nil, 431},
		{"GET /urn:example:a HTTP/1.1\r\nA B: c\r\nY: z", nil, 400},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, tt.err }
		request := tt.request
		if !strings.Contains(request, " HTTP/1.1") {
			request += " HTTP/1.1"
		}
		response := s.ask(t, request+"\r\nHost: a\r\n\r\n")[0]
		body := text(t, response)
		if response.StatusCode != tt.status || response.Header.Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(body, `"detail"`) || strings.Contains(body, "a bug") {
			t.Errorf("%.60q, %v: %d %.300s", tt.request, tt.err, response.StatusCode, body)
		}
	}
}

func TestPages(t *testing.T) {
	s := start(t, nil)
	browser := "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	response := s.get(t, "/urn:example:<script>", browser)
	body := text(t, response)
	if response.StatusCode != 400 || response.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		strings.Contains(body, "<script>") || !strings.Contains(body, "<mark>&lt;</mark>") ||
		!strings.Contains(body, "RFC 3986 section 3.3") {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	home := s.get(t, "/", browser)
	if body := text(t, home); home.StatusCode != 200 || !strings.Contains(body, "<form") {
		t.Errorf("home: %d %s", home.StatusCode, body)
	}
	head := s.ask(t, "HEAD /urn:a HTTP/1.1\r\nHost: a\r\n\r\n")[0]
	if body := text(t, head); head.StatusCode != 400 || body != "" || head.ContentLength <= 0 {
		t.Errorf("HEAD: %d %d %s", head.StatusCode, head.ContentLength, body)
	}
}
