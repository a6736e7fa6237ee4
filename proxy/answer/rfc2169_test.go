package answer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

// RFC 8141 section 2.3: the r-component is for the resolver; the q-component and the fragment are for the
// resource, and do not affect resolution.
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
		response := s.asked(t, tt.target)
		if want := "https://a.example/urn:example:weather" + tt.location; response.Header.Get("Location") != want ||
			strings.Join(keys, "|") != tt.key {
			t.Errorf("%s: %q by the keys %q", tt.target, response.Header.Get("Location"), keys)
		}
	}
}

// RFC 8458 section 4.2.1: an r-component of an NBN does not change its location.
func TestNBNComponents(t *testing.T) {
	s := start(t, func(c *answer.Config) {
		c.Resolver = resolver.NewCanonical(c.Names, resolver.NewNamespaces(c.Names.Set, time.Hour))
	})
	want := s.asked(t, "/urn:nbn:fi-fe201003181510").Header.Get("Location")
	if got := s.asked(t, "/URN:NBN:FI-fe201003181510?+r").Header.Get("Location"); got != want || got == "" {
		t.Errorf("%q, want %q", got, want)
	}
}

// RFC 2483 sections 4.1 to 4.4: the errors of all services for locations.
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
		s.next = failing(tt.err)
		for _, service := range []string{"N2L", "N2Ls"} {
			if got := s.asked(t, "/uri-res/"+service+"?"+tt.name).StatusCode; got != tt.status {
				t.Errorf("%s of %s, %v: %d, want %d", service, tt.name, tt.err, got, tt.status)
			}
		}
	}
}
