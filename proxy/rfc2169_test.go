package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// Requirements of RFC 2169 and related RFCs that no other test of this package covers, with
// their section.

// at answers with the location under which the resolver of start has a name.
func at(q resolver.Query) resolver.Answer {
	return resolver.Answer{Locations: []resolver.Location{{URI: "https://a.example/" + q.URI.String(), From: &resolver.Source{Name: "test"}}}, TTL: time.Minute}
}

// net/url and http.ServeMux would change all of these.
func TestTargetsAsSent(t *testing.T) {
	s := start(t, nil)
	const there = "https://a.example/"
	for _, tt := range []struct {
		source, target string
		status         int
		location       string
	}{
		{"the scheme as it was sent", "URN:Example:A", 302, there + "urn:example:A"},
		{"no mux", "/news:comp.lang.go", 302, "news:comp.lang.go"},
		{"no mux", "/mailto:a@b.example", 302, "mailto:a@b.example"},
		{"no mux", "/urn:x1:a//b", 302, there + "urn:x1:a//b"},
		{"no mux: RFC 3986 section 5.2.4", "/http://h.example//x/../y", 302, "http://h.example//y"},
		{"?uri=", "/?uri=urn:x1:a//b/../c", 302, there + "urn:x1:a//b/../c"},
		{"the raw form: RFC 4266 section 2.1", "/gopher://h.example/1a%09b", 302, "gopher://h.example/1a%09b"},
		{"normal form: RFC 3986 section 6.2.3", "/http://A.example:080/%7eb", 302, "http://a.example/~b"},
		{"RFC 2169 section 2: encoded as it was sent", "/uri-res/N2L?urn:x1:a%2Db%7E", 303, there + "urn:x1:a%2Db%7E"},
		{"RFC 2169 section 2: all behind the first ?", "/uri-res/N2L?urn:x1:a?+r?=q?=1", 303, there + "urn:x1:a?q?=1"},
		{"RFC 2169 section 2", "/uri-res/I2L?urn:x1:a/b~c&d", 303, there + "urn:x1:a/b~c&d"},
		{"RFC 2483 section 2.1", "/uri-res/n2L?urn:x1:a", 303, there + "urn:x1:a"},
		{"RFC 2483 section 4.1: URLs too", "/uri-res/L2L?http://B.example", 303, "http://b.example/"},
	} {
		response := s.get(t, tt.target)
		if response.StatusCode != tt.status || response.Header.Get("Location") != tt.location {
			t.Errorf("%s: %s: %d %q", tt.source, tt.target, response.StatusCode, response.Header.Get("Location"))
		}
	}
	var document api.Answer
	body := text(t, s.get(t, "URN:Example:A", "Accept: application/vnd.urnd.trace+json"))
	if err := json.Unmarshal([]byte(body), &document); err != nil || document.Input != "URN:Example:A" {
		t.Errorf("%v: %s", err, body)
	}
}

// RFC 8141 section 2.3: the r-component is for the resolver, the q-component and the
// fragment are for the resource and take no part in resolution.
func TestURNComponents(t *testing.T) {
	s := start(t, nil)
	var keys []string
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		keys = append(keys, q.Key())
		return at(q), nil
	}
	for _, tt := range []struct{ target, key, location string }{
		{"/urn:example:weather?=op=map&lat=39.56", "urn:example:weather", "?op=map&lat=39.56"},
		{"/urn:example:weather?=op=chart", "urn:example:weather", "?op=chart"},
		{"/urn:example:weather#somepart", "urn:example:weather", "#somepart"},
		{"/?uri=urn:example:weather%3F%3Dop%3Dmap%23somepart", "urn:example:weather", "?op=map#somepart"},
		{"/urn:example:weather?+CCResolve:cc=uk", "urn:example:weather?+CCResolve:cc=uk", ""},
		{"/urn:example:weather?+CCResolve:cc=uk?=op=map#f", "urn:example:weather?+CCResolve:cc=uk", "?op=map#f"},
	} {
		keys = nil
		response := s.get(t, tt.target)
		if want := "https://a.example/urn:example:weather" + tt.location; response.Header.Get("Location") != want || strings.Join(keys, "|") != tt.key {
			t.Errorf("%s: %q by the keys %q", tt.target, response.Header.Get("Location"), keys)
		}
	}
}

// RFC 8458 section 4.2.1: an r-component of an NBN does not change its location.
func TestNBNComponents(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Resolver = resolver.NewCanonical(c.Names, resolver.NewNamespaces(c.Names.Set, time.Hour))
	})
	want := s.get(t, "/urn:nbn:fi-fe201003181510").Header.Get("Location")
	if got := s.get(t, "/URN:NBN:FI-fe201003181510?+r").Header.Get("Location"); got != want || got == "" {
		t.Errorf("%q, want %q", got, want)
	}
}

// RFC 2483 sections 4.1 to 4.4: the errors of every service that locates or fetches.
func TestErrorsOfServices(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		name   string
		err    error
		status int
	}{
		{"urn:isbn:1", nil, 400},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrNotFound}, 404},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrUnsupported}, 404},
		{"urn:x1:a", &resolver.Negative{Kind: resolver.ErrGone}, 410},
		{"urn:x1:a", resolver.ErrForbidden, 403},
		{"urn:x1:a", resolver.ErrUnreachable, 502},
		{"urn:x1:a", context.DeadlineExceeded, 504},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, tt.err }
		for _, service := range []string{"N2L", "N2Ls", "N2R", "N2Rs"} {
			if got := s.get(t, "/uri-res/"+service+"?"+tt.name).StatusCode; got != tt.status {
				t.Errorf("%s of %s, %v: %d, want %d", service, tt.name, tt.err, got, tt.status)
			}
		}
	}
}
