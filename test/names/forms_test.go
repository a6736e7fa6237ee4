//go:build e2e

package names

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// wantForms checks that all forms of a request have the same result.
func wantForms(t *testing.T, w *urndtest.Daemon, request, host, want string, fields ...string) {
	t.Helper()
	for form, got := range w.Forms(t, request, host, fields...) {
		if got != want {
			t.Errorf("%s at %s, %q, as %q: %s, want %s", request, host, fields, form, got, want)
		}
	}
}

// TestLinkedDataLeads checks that linked data programs get the same redirects as browsers for names of own
// hosts, URNs and ARKs, unless Accept requests a description.
func TestLinkedDataLeads(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t, "urn:", "ark:/12345/", "doi:10.5555/")
	const vocabulary, book = "https://terms.example/ns.ttl", "https://books.example/b1"
	for _, name := range []string{"urn:example:b1", "ark:/12345/b1", "doi:10.5555/b1"} {
		r.Put(t, registry.Name(name), registry.Record{Targets: urndtest.Targets(book), Metadata: `{"title":"A book"}`})
	}
	r.Put(t, registry.Name("https://purl.example/ns/terms"), registry.Record{Targets: urndtest.Targets(vocabulary)})
	w := r.Start(t, func(c *config.Config) {
		c.Registry.Owned = []string{"urn:", "ark:/12345/", "doi:10.5555/"}
		c.Registry.Hosts = []string{"purl.example"}
		urndtest.ListenForTLS(t, c)
		c.Registry.Describe = []string{"DOI:10.5555/"}
	})
	const browser, loader, turtle = "Accept: text/html,application/xhtml+xml,*/*;q=0.8",
		"Accept: application/ld+json, application/json", "Accept: text/turtle"
	for _, accept := range []string{browser, loader, turtle, "Accept: application/x-bibtex", "X: y"} {
		wantForms(t, w, "GET /ns/terms", "purl.example", "302 "+vocabulary, accept)
		wantForms(t, w, "GET /urn:example:b1", "urn.example", "302 "+book, accept)
		wantForms(t, w, "HEAD /ark:/12345/b1", "urn.example", "302 "+book, accept)
	}
	wantForms(t, w, "GET /doi:10.5555/b1", "urn.example", "302 "+book, browser)
	for _, accept := range []string{
		loader, turtle,
		"Accept: application/vnd.crossref.unixsd+xml, application/x-bibtex;q=0.5",
	} {
		wantForms(t, w, "GET /doi:10.5555/B1", "urn.example", "200", accept)
	}
	wantForms(t, w, "GET /ns/terms", "purl.example", "200", "Accept: application/linkset+json")
	wantForms(t, w, "GET /urn:example:b1", "urn.example", "200", "Accept: application/linkset")
}

// TestHostsAreCompared checks that hosts are compared case-insensitively and without final dot, in all forms of
// requests (RFC 4343).
func TestHostsAreCompared(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("https://purl.example/foo"),
		registry.Record{Targets: urndtest.Targets("https://a.example/foo")})
	r.Put(t, registry.Name("urn:example:b1"), registry.Record{Targets: urndtest.Targets("https://a.example/b1")})
	w := r.Start(t, func(c *config.Config) {
		urndtest.ListenForTLS(t, c)
		c.Registry.Hosts, c.Listen.Names = []string{"Purl.example"}, []string{"Urn.example."}
	})
	for _, host := range []string{"purl.example", "PURL.example", "PURL.example.", "purl.Example:80"} {
		wantForms(t, w, "GET /foo", host, "302 https://a.example/foo")
		wantForms(t, w, "GET https://"+host+"/foo", host, "302 https://a.example/foo")
		wantForms(t, w, "GET HTTP://"+host+"/foo", host, "302 https://a.example/foo")
	}
	for _, host := range []string{"urn.example", "Urn.example", "URN.EXAMPLE."} {
		for form, got := range w.Forms(t, "GET /timegate/http://urn.example/urn:example:b1", host) {
			if status, _, _ := strings.Cut(got, " "); status != "302" {
				t.Errorf("the TimeGate at %s as %s: %s", host, form, got)
			}
		}
	}
}

// TestARKBelowRoot checks that paths below a root of identifiers are only interpreted as these identifiers, in
// all forms of requests: an ARK there is not an ARK.
func TestARKBelowRoot(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("ark:/12345/x1"), registry.Record{Targets: urndtest.Targets("https://a.example/x1")})
	w := r.Start(t, func(c *config.Config) {
		urndtest.ListenForTLS(t, c)
		c.Registry.Owned = []string{"urn:", "ark:/12345/"}
		c.Registry.Hosts, c.Registry.DigitalLink = []string{"purl.example"}, urndtest.DigitalLinks()
	})
	const leads, url = "302 https://a.example/x1", "https://id.example/ark:/12345/x1"
	for _, host := range []string{linkHost, "ID.example.", "id.example:443"} {
		wantForms(t, w, "GET /ark:/12345/x1", host, "400")
		wantForms(t, w, "HEAD /ark:/12345/x1?info", host, "400")
		wantForms(t, w, "GET "+url, host, "400")
	}
	for _, target := range []string{
		"/uri-res/N2L?" + url, "/uri-res/N2Ls?" + url, "/uri-res/N2C?" + url, "/uri-res/L2C.linkset?" + url,
		"/?uri=" + url, "/" + url, "/api/v1/resolve?uri=" + url, "/api/v1/explain?uri=" + url + "&format=json",
		"/timegate/" + url,
		"/timemap/" + url,
	} {
		wantForms(t, w, "GET "+target, "urn.example", "400")
	}
	wantForms(t, w, "GET /uri-res/N2L?http://ID.example.:80/ark:/12345/x1", "urn.example", "400")
	wantForms(t, w, "GET /ark:/12345/x1", "urn.example", leads)
	wantForms(t, w, "GET /ark:/12345/x1", "purl.example", leads)
	for form, got := range w.Forms(t, "GET /uri-res/N2L?https://purl.example/ark:/12345/x1", "urn.example") {
		// HTTP/1.0 has no 303.
		if want := "303 https://a.example/x1"; got != want && (form != "HTTP/1.0" || got != leads) {
			t.Errorf("an ARK of an own host as %s: %s", form, got)
		}
	}
}
