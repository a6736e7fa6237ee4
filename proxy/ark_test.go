package proxy_test

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
)

// GET and HEAD for an ARK of the registry with an inflection are answered with its description.
func TestInflections(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Names = c.Names.WithOwnedPrefixes([]string{"urn:", "ark:/12345/"})
		c.Resolver = resolver.NewCanonical(c.Names, resolver.Func(withLocations("https://a.example/")))
	})
	for method, status := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405} {
		response := s.ask(t, method+" /ark:/12345/x1?info HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]
		isERC := response.Header.Get("Content-Type") == "text/plain; charset=utf-8"
		if response.StatusCode != status || isERC != (status == 200) {
			t.Errorf("%s: %d %v", method, response.StatusCode, response.Header)
		}
	}
}

// A server that resolves ARKs states the path prefix: draft-kunze-ark-42 section 5.6.
func TestServiceOfARKs(t *testing.T) {
	for base, want := range map[string]string{"": "/\n", "/names": "/names/\n"} {
		s := start(t, func(c *proxy.Config) {
			c.Names = c.Names.WithOwnedPrefixes([]string{"ark:/12345/"})
			c.Pages = pages.New(pages.Site{Base: base})
		})
		response := s.get(t, "/.well-known/ark")
		if got := text(t, response); response.StatusCode != 200 ||
			response.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got != want {
			t.Errorf("%q: %d %v %q", base, response.StatusCode, response.Header, got)
		}
	}
	if response := start(t, nil).get(t, "/.well-known/ark"); response.StatusCode != http.StatusNotFound {
		t.Errorf("without ARKs: %d", response.StatusCode)
	}
}
