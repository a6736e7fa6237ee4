package proxy_test

import (
	"net/http"
	"strings"
	"testing"
)

// urnd evaluates the preconditions of requests for its own documents (RFC 9110 section 13.2.2): If-Match by
// the strong comparison (section 13.1.1), If-None-Match by the weak one (section 13.1.2), and neither for
// redirects and errors (section 13.2.1).
func TestPreconditionsOfOwnDocuments(t *testing.T) {
	s := start(t, nil)
	const document, resolved = "/api/v1/openapi.json", "/api/v1/resolve?uri=urn:a1:b"
	strong, weak := s.get(t, document).Header.Get("Etag"), s.get(t, resolved).Header.Get("Etag")
	if !strings.HasPrefix(strong, `"`) || !strings.HasPrefix(weak, `W/"`) {
		t.Fatalf("the entity tags are %q and %q", strong, weak)
	}
	for _, tt := range []struct {
		target, field string
		status        int
	}{
		{document, "If-Match: " + strong, 200},
		{document, `If-Match: "x", ` + strong, 200},
		{document, "If-Match: *", 200},
		{document, `If-Match: "x"`, 412},
		{document, "If-Match: W/" + strong, 412},
		{document, "If-None-Match: W/" + strong, 304},
		{document, `If-None-Match: "x"`, 200},
		{resolved, "If-None-Match: " + weak, 304},
		{resolved, "If-None-Match: " + strings.TrimPrefix(weak, "W/"), 304},
		{resolved, "If-None-Match: *", 304},
		{resolved, `If-None-Match: "x"`, 200},
		{resolved, "If-Match: *", 200},
		{resolved, "If-Match: " + weak, 412},
		{resolved, `If-Match: "x"`, 412},
		{"/robots.txt", `If-Match: "x"`, 412},
		{"/.well-known/api-catalog", `If-Match: "x"`, 412},
		{"/opensearch.xml", `If-Match: "x"`, 412},
		{"/", `If-Match: "x"`, 412}, // a page has no entity tag
		{"/", "If-Match: *", 200},
		{"/", "If-None-Match: *", 200},
		{"/uri-res/N2Ls?urn:a1:b", `If-Match: "x"`, 412},
		{"/urn:a1:b", `If-Match: "x"`, 302},
		{"/urn:a", `If-Match: "x"`, 400},
		{"/api/v1/resolve?uri=urn:a", "If-None-Match: *", 400},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			response := s.ask(t, method+" "+tt.target+" HTTP/1.1\r\nHost: a\r\n"+tt.field+"\r\n\r\n")[0]
			if response.StatusCode != tt.status {
				t.Errorf("%s %s, %s: %d, want %d", method, tt.target, tt.field, response.StatusCode, tt.status)
			}
			hasTag := response.Header.Get("Etag") != ""
			switch tt.status {
			case http.StatusPreconditionFailed:
				if kind := response.Header.Get("Content-Type"); kind != "application/problem+json" {
					t.Errorf("%s, %s: a failed precondition has the type %q", tt.target, tt.field, kind)
				}
			case http.StatusNotModified:
				if !hasTag || response.Header.Get("Content-Type") != "" ||
					response.Header.Get("Content-Encoding") != "" || response.Header.Get("Vary") == "" {
					t.Errorf("%s, %s: 304 has the fields %v", tt.target, tt.field, response.Header)
				}
			}
		}
	}
}

// The entity tag of an answer depends on its locations, not on its TTL or the cache status.
func TestEntityTagOfAnswers(t *testing.T) {
	s := start(t, nil)
	tag := func(target string) string { return s.get(t, target).Header.Get("Etag") }
	first := tag("/api/v1/resolve?uri=urn:a1:b")
	s.next = withLocations("https://other.example/")
	if changed := tag("/api/v1/resolve?uri=urn:a1:b"); changed == first || changed == "" {
		t.Errorf("another location has the entity tag %s", changed)
	}
	if other := tag("/api/v1/explain?uri=urn:a1:b"); other != "" {
		t.Errorf("a response that is resolved each time has the entity tag %s", other)
	}
}

// Errors of the API are problem documents in JSON, whatever Accept the client library sends.
func TestErrorsOfTheAPI(t *testing.T) {
	s := start(t, nil)
	for target, want := range map[string]string{
		"/api/v1/resolve?uri=urn:a":    "application/problem+json",
		"/api/v1/resolve":              "application/problem+json",
		"/api/v1/resolve?uri=file:///": "application/problem+json",
		"/api/v1/explain?uri=urn:a":    "text/html; charset=utf-8", // it has a page
		"/urn:a":                       "text/html; charset=utf-8",
	} {
		for accept, kind := range map[string]string{
			"text/html,application/xhtml+xml,*/*;q=0.8":             want,
			"application/json, application/problem+json, text/html": "application/problem+json",
			"application/json, text/plain, */*":                     "application/problem+json",
			"*/*":                                                   "application/problem+json",
		} {
			if got := s.get(t, target, "Accept: "+accept).Header.Get("Content-Type"); got != kind {
				t.Errorf("%s, Accept: %s: %s, want %s", target, accept, got, kind)
			}
		}
	}
	posted := s.ask(t,
		"POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nContent-Length: 2\r\n\r\n{}")[0]
	if kind := posted.Header.Get("Content-Type"); posted.StatusCode != http.StatusBadRequest ||
		kind != "application/problem+json" {
		t.Errorf("%d %s", posted.StatusCode, kind)
	}
}
