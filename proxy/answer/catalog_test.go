package answer_test

import (
	"encoding/json"
	"mime"
	"net/http"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
)

// RFC 9727 sections 2 to 5: the catalog is a linkset with a profile, which links to the API by RFC 8631, and
// to itself.
func TestCatalog(t *testing.T) {
	for _, base := range []string{siteBase, ""} {
		header := make(http.Header)
		response := written(header, answer.Catalog(base, false, httpmessage.NewHeader(header)), nil)
		kind, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
		if err != nil || kind != "application/linkset+json" ||
			parameters["profile"] != "https://www.rfc-editor.org/info/rfc9727" {
			t.Errorf("the type is %s", response.Header.Get("Content-Type"))
		}
		if links := response.Header["Link"]; len(links) != 1 ||
			linkOf(t, links[0], "api-catalog") != base+"/.well-known/api-catalog" {
			t.Errorf("the links are %v", links)
		}
		body := text(t, response)
		contexts := decoded(t, body)
		api := contexts[base+"/api/v1/resolve"]
		if len(contexts) != 1 || api == nil {
			t.Fatalf("the contexts are %s", body)
		}
		for rel, want := range map[string]string{
			"service-desc": `[{"href":"` + base + `/api/v1/openapi.json","type":"application/json"}]`,
			"service-doc":  `[{"href":"` + base + `/docs","type":"text/html"}]`,
		} {
			if got, err := json.Marshal(api[rel]); err != nil || string(got) != want {
				t.Errorf("%s is %s, want %s", rel, got, want)
			}
		}
		atHost := decoded(t, text(t, written(make(http.Header), answer.Catalog(base, true, nil), nil)))
		if got, err := json.Marshal(atHost[base+"/api/v1/resolve"]["service-doc"]); err != nil ||
			string(got) != `[{"href":"`+base+`/","type":"text/html"}]` {
			t.Errorf("at a web host: %s, %v", got, err)
		}
		header.Set("If-None-Match", response.Header.Get("Etag"))
		again := answer.Catalog(base, false, httpmessage.NewHeader(header))
		if status := again.Precondition(http.MethodGet,
			httpmessage.NewHeader(header)); status != http.StatusNotModified {
			t.Errorf("a client that has it gets %d", status)
		}
	}
}

// The start page, and the descriptions of names, link to the catalog.
func TestCatalogIsFound(t *testing.T) {
	home := written(make(http.Header),
		answer.Home(siteBase, pages.New(pages.Site{}).In(pages.English).Home(false)), nil)
	name := start(t, nil).at(t, "/uri-res/N2C?urn:x1:a")
	for _, response := range []*http.Response{home, name} {
		links := response.Header.Get("Link")
		if linkOf(t, links, "api-catalog") != siteBase+"/.well-known/api-catalog" ||
			linkOf(t, links, "service-desc") != siteBase+"/api/v1/openapi.json" {
			t.Errorf("the links are %s", links)
		}
	}
}
