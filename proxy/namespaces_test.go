package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/pages"
)

// The pages about namespaces have the same audience as the front page, are in the reader's language, and may
// be stored.
func TestNamespacePages(t *testing.T) {
	isClosed := false
	serve := func() *server {
		return start(t, func(c *proxy.Config) {
			c.Pages = pages.New(pages.Site{All: []pages.Namespace{
				{NID: "nbn", Source: "RFC 8458", Fold: "prefix"},
				{NID: "uuid", Source: "RFC 9562"},
			}})
			if isClosed {
				c.Access.Resolve, c.Access.Proxy = nil, nil
			}
		})
	}
	s := serve()
	for _, tt := range []struct {
		target, accept string
		status         int
		tag, has       string
	}{
		{"/namespaces", "en", 200, "en", "2 namespaces"},
		{"/namespaces?q=8458", "de", 200, "de", "1 Namensraum"},
		{"/namespaces?q=8458&lang=fr", "de", 200, "fr", "1 espace de noms"},
		{"/namespaces?q=%3Cb%3E", "en", 200, "en", `value="&lt;b&gt;"`},
		{"/namespaces/NBN", "es", 200, "es", "Espacio de nombres <code dir=\"auto\">urn:nbn</code>"},
		{"/namespaces/none1", "de", 404, "de", "<code dir=\"auto\">urn:none1</code>"},
	} {
		response := s.get(t, tt.target, "Accept: text/html", "Accept-Language: "+tt.accept)
		body, header := text(t, response), response.Header
		if response.StatusCode != tt.status || header.Get("Content-Language") != tt.tag ||
			!strings.Contains(body, tt.has) {
			t.Errorf("%s: %s, %q, %s", tt.target, response.Status, header, body)
		}
		if vary := header.Get("Vary"); !strings.Contains(vary, "Accept-Language") ||
			tt.status == 200 && header.Get("Cache-Control") != "max-age=3600" {
			t.Errorf("%s: %q", tt.target, header)
		}
	}
	if response := s.ask(t,
		"POST /namespaces HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]; response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", response.Status)
	}
	isClosed = true
	closed := serve()
	for _, target := range []string{"/", "/namespaces", "/namespaces/nbn"} {
		if response := closed.get(t, target); response.StatusCode != http.StatusForbidden {
			t.Errorf("%s without access: %s", target, response.Status)
		}
	}
}

// Browsers find this server's search by OpenSearch, at the address that they use.
func TestOpenSearch(t *testing.T) {
	s := start(t, nil)
	response := s.get(t, "/opensearch.xml")
	body := text(t, response)
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != pages.OpenSearchType ||
		response.Header.Get("Cache-Control") != "max-age=3600" ||
		!strings.Contains(body, "<ShortName>urnd</ShortName>") || !strings.Contains(body, `/?uri={searchTerms}"`) ||
		!strings.Contains(body, `template="http://`) {
		t.Errorf("%s %q %s", response.Status, response.Header, body)
	}
	if again := s.get(t, "/opensearch.xml",
		"If-None-Match: "+response.Header.Get("Etag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("again: %s", again.Status)
	}
}
