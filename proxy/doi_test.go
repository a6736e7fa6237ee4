package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

// citationTypes are media types of metadata for which registration agencies answer DOIs, as doi.org leads to these by Accept.
func citationTypes() []string {
	return []string{
		"application/vnd.citationstyles.csl+json", "application/vnd.citationstyles.csl+json, */*;q=0.1", "application/ld+json", "text/turtle",
		"application/rdf+xml;q=0.5, application/vnd.citationstyles.csl+json;q=1.0", "text/x-bibliography; style=apa; locale=de-DE", "application/x-bibtex",
		"application/x-research-info-systems", "application/vnd.crossref.unixsd+xml", "application/vnd.datacite.datacite+json",
		"application/vnd.medra.onixdoi+xml", "text/html", "*/*",
	}
}

// A DOI that is not of this registry leads to doi.org whatever its client accepts: which agency has its metadata is decided there.
func TestAcceptOfDOIs(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		var err error
		if c.Names.Identifiers, err = urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...); err != nil {
			t.Fatal(err)
		}
		c.Resolver = resolver.NewCanonical(c.Names, resolver.NewNamespaces(c.Names.Set, time.Hour))
	})
	for _, target := range []string{"/urn:doi:10.1000/182", "/doi:10.1000/182", "/10.1000/182", "/?uri=doi:10.1000/182", "/uri-res/N2L?urn:doi:10.1000/182"} {
		for _, accept := range citationTypes() {
			response := s.get(t, target, "Accept: "+accept)
			vary := strings.Split(strings.Join(response.Header.Values("Vary"), ", "), ", ")
			if response.StatusCode/100 != 3 || response.Header.Get("Location") != "https://doi.org/10.1000/182" || !slices.Contains(vary, "Accept") {
				t.Errorf("%s for %s: %s to %q, %v", target, accept, response.Status, response.Header.Get("Location"), response.Header.Values("Vary"))
			}
		}
	}
}

// Where urnd retrieves the resource itself, what the client accepts goes on to the server, and to those that this leads to.
func TestAcceptOfDOIsThatAreRetrieved(t *testing.T) {
	var asked []string
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("Accept"))
		if r.URL.Path == "/doi" {
			http.Redirect(w, r, "/agency", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/x-made")
		_, _ = io.WriteString(w, "metadata")
	}))
	defer origin.Close()
	s := start(t, nil)
	s.next = withLocations(origin.URL + "/doi")
	for _, accept := range citationTypes() {
		asked = nil
		response := s.get(t, "/uri-res/N2R?urn:doi:10.1000/182", "Accept: "+accept)
		if want := []string{"/doi " + accept, "/agency " + accept}; text(t, response) != "metadata" || !slices.Equal(asked, want) ||
			!strings.HasPrefix(response.Header.Get("Vary"), "Accept") {
			t.Errorf("%s: %s, asked %q, %v", accept, response.Status, asked, response.Header)
		}
	}
}
