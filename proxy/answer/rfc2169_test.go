package answer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

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
		response := s.asked(t, tt.target)
		if want := "https://a.example/urn:example:weather" + tt.location; response.Header.Get("Location") != want || strings.Join(keys, "|") != tt.key {
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
