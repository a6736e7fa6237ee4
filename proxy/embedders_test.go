package proxy_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
)

// Sites named in the configuration may embed resources retrieved for their readers; other sites may not.
func TestEmbedders(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		c.Access.Embedders = []string{"https://catalogue.example"}
	})
	s.next = withLocations("gopher://a.example/0text")
	for _, target := range []string{fetchOf("gopher://a.example/0text"), "/uri-res/N2R?urn:example:a"} {
		for field, isEmbedder := range map[string]bool{
			"Referer: https://catalogue.example/": true, "Referer: https://catalogue.example/a?b": true,
			"Origin: https://catalogue.example":  true,
			"Referer: http://catalogue.example/": false, "Referer: https://catalogue.example.evil.example/": false,
			"Referer: https://evil.example/https://catalogue.example": false,
		} {
			response := s.get(t, target, append(metadata("cross-site", "no-cors", "image"), field)...)
			header := response.Header
			switch {
			case (response.StatusCode == 200) != isEmbedder:
				t.Errorf("%s of %s: %d", target, field, response.StatusCode)
			case isEmbedder && (header.Get("Cross-Origin-Resource-Policy") != "cross-origin" ||
				!strings.HasSuffix(header.Get("Content-Security-Policy"),
					"frame-ancestors https://catalogue.example") ||
				!strings.Contains(strings.Join(header["Vary"], ", "), "Origin, Referer")):
				t.Errorf("%s of %s: %v", target, field, header)
			}
		}
		if header := s.get(t, target).Header; header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", target, header)
		}
	}
}
