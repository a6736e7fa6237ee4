package answer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

// citationTypes returns values of Accept with the metadata media types that DOI registration agencies
// support, and to which doi.org redirects by Accept.
func citationTypes() []string {
	return []string{
		"application/vnd.citationstyles.csl+json", "application/vnd.citationstyles.csl+json, */*;q=0.1",
		"application/ld+json", "text/turtle",
		"application/rdf+xml;q=0.5, application/vnd.citationstyles.csl+json;q=1.0",
		"text/x-bibliography; style=apa; locale=de-DE", "application/x-bibtex", "application/x-research-info-systems",
		"application/vnd.crossref.unixsd+xml", "application/vnd.datacite.datacite+json",
		"application/vnd.medra.onixdoi+xml", "text/html", "*/*",
	}
}

// A DOI outside of this registry redirects to doi.org for any Accept: doi.org selects the agency with its
// metadata.
func TestAcceptOfDOIs(t *testing.T) {
	s := start(t, func(c *answer.Config) {
		var err error
		if c.Names.Identifiers, err = urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...); err != nil {
			t.Fatal(err)
		}
		c.Resolver = resolver.NewCanonical(c.Names, resolver.NewNamespaces(c.Names.Set, time.Hour))
	})
	for _, target := range []string{
		"/urn:doi:10.1000/182", "/doi:10.1000/182", "/10.1000/182", "/?uri=doi:10.1000/182",
		"/uri-res/N2L?urn:doi:10.1000/182",
	} {
		for _, accept := range citationTypes() {
			response := s.asked(t, target, "Accept: "+accept)
			vary := strings.Split(strings.Join(response.Header.Values("Vary"), ", "), ", ")
			if response.StatusCode/100 != 3 || response.Header.Get("Location") != "https://doi.org/10.1000/182" ||
				!slices.Contains(vary, "Accept") {
				t.Errorf("%s for %s: %s to %q, %v", target, accept, response.Status, response.Header.Get("Location"),
					response.Header.Values("Vary"))
			}
		}
	}
}
