package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Pages are in the language that the client accepts, or that its reader has chosen, and declare it (RFC 9110
// sections 8.5, 12.5.4 and 12.5.5).
func TestLanguages(t *testing.T) {
	s := start(t,
		func(c *proxy.Config) { c.Pages = pages.New(pages.Site{Name: "Biblioteca", Language: pages.Spanish}) })
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the name is not registered"}
	}
	for _, tt := range []struct{ target, accept, tag, has string }{
		{"/", "", "es", "<h1>Biblioteca</h1>"},
		{"/", "de-AT,de;q=0.9,en;q=0.8", "de", "löst Namen auf"},
		{"/", "ja", "es", "resuelve nombres"},
		{"/?lang=fr", "de", "fr", "Ce serveur"},
		{"/?lang=zh", "", "zh-Hans", "本服务器"},
		{"/?lang=fr-CA", "de", "fr", "Ce serveur"},
		{"/?lang=ja", "de", "es", "resuelve"},
		{"/fetch?lang=de", "", "de", "URL abrufen"},
		{"/fetch?lang=de&uri=x", "fr", "de", "Ungültige Anfrage"},
		{"/urn:example:none", "fr", "fr", "Ce nom est introuvable"},
		{"/urn:example:none?lang=de", "fr", "fr", "urn:example:none?lang=de"},
		{"/urn:example:none?=lang=de", "fr", "fr", "Ce nom est introuvable"},
		{"/?uri=urn:example:none&lang=de", "fr", "de", "Dieser Name wurde nicht gefunden"},
		{"/?lang=de&uri=urn:example:none", "fr", "de", "Dieser Name wurde nicht gefunden"},
		{"/?uri=urn:a&lang=de\"><x", "fr", "fr", "Ce nom n’est pas valide"},
		{"/uri-res/N2Ls?urn:example:none?lang=de", "fr", "fr", ""},
		{"/nothing", "zh-CN", "zh-Hans", "没有页面"},
		{"/api/v1/explain?uri=urn:a&lang=fr", "de", "fr", "<mark"},
	} {
		for range 2 { // the second one is a cache hit
			response := s.get(t, tt.target, "Accept: text/html", "Accept-Language: "+tt.accept)
			body, header := text(t, response), response.Header
			if header.Get("Content-Language") != tt.tag || !strings.Contains(body, `<html lang="`+tt.tag+`">`) ||
				!strings.Contains(body, tt.has) {
				t.Errorf("%s for %s: %s, %s", tt.target, tt.accept, header.Get("Content-Language"), body)
			}
			if vary := strings.Join(header.Values("Vary"), ", "); !strings.HasSuffix(vary, "Accept-Language") {
				t.Errorf("%s: Vary is %q", tt.target, vary)
			}
			if !strings.Contains(header.Get("Content-Security-Policy"), "style-src 'sha256-") {
				t.Errorf("%s: %q", tt.target, header)
			}
		}
	}
	if problem := s.get(t, "/urn:example:none", "Accept-Language: de"); problem.Header.Get("Vary") != "Accept" ||
		!strings.Contains(text(t, problem), "Not Found") {
		t.Errorf("a document for programs: %q", problem.Header)
	}
}

// A listing is stored once per language, and each client gets its own.
func TestListingsByLanguage(t *testing.T) {
	var stored *memory.Store[*httpcache.Entry]
	fetched, again := 0, 0
	s := start(t, func(c *proxy.Config) {
		c.ListingTTL, c.Forward.Accept = time.Minute, answer.ListingAccept
		stored = withCache(t, c)
		c.Fetch = handlerFunc(func(context.Context, scheme.Request) (*scheme.Resource, error) {
			fetched++
			return scheme.ListingResource(&scheme.Listing{
				Kind: scheme.KindDirectory, URI: "ftp://h.example/",
				Items: make([]scheme.Item, 2),
			}), nil
		})
	})
	for _, tt := range []struct{ accept, word string }{
		{"de-AT,de;q=0.5", "Einträge"},
		{"de, fr", "Einträge"},
		{"de-CH", "Einträge"},
		{"fr-CA,de", "entrées"},
		{"fr;q=0.1", "entrées"},
		{"", "entries"},
		{"zh-CN", "条目"},
	} {
		get := func() string {
			return text(t, s.get(t, "/fetch?uri=ftp://h.example/pub/", "Referer: http://a/", "Accept: text/html",
				"Accept-Language: "+tt.accept))
		}
		if body := get(); !strings.Contains(body, tt.word) {
			t.Errorf("%s: %s", tt.accept, body)
		}
		testserver.Wait(t, "it is stored", func() bool {
			if stored.Stats().Entries > 0 {
				return true
			}
			again++ // the store may not have accepted the first one
			get()
			return false
		})
	}
	if fetched > 4+again { // the number of languages
		t.Errorf("fetched %d times", fetched)
	}
}

// Below a path that a proxy in front removes, links, forms and redirects to pages of this server begin with that path.
func TestBelowAPath(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.Pages = pages.New(pages.Site{Base: "/resolver"})
		c.ListingTTL = time.Minute
		c.Schemes = scheme.Infos{{Names: []string{"ftp"}, Browsable: true}}
		c.Fetch = handlerFunc(func(_ context.Context, r scheme.Request) (*scheme.Resource, error) {
			if r.URI.Path() == "/moved" {
				return scheme.Redirect(http.StatusFound, "ftp://h.example/pub/"), nil
			}
			return scheme.ListingResource(&scheme.Listing{
				Kind: scheme.KindDirectory, URI: "ftp://h.example/pub/",
				Search: &scheme.Search{Prefix: "ftp://h.example/?"},
				Items:  []scheme.Item{{Name: "a", URI: "ftp://h.example/a"}, {Name: "b", URI: "ftp://h.example/b"}},
			}), nil
		})
	})
	for target, want := range map[string]string{
		"/fetch?uri=ftp://h.example/moved":       "/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2Fpub%2F",
		"/?uri=ftp%3A%2F%2Fh.example%2F":         "/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2F",
		"/?uri=ftp%3A%2F%2Fh.example%2F&lang=de": "/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2F&lang=de",
	} {
		if response := s.get(t, target, "Accept: text/html",
			"Referer: http://a/"); response.Header.Get("Location") != want {
			t.Errorf("%s: %s %q", target, response.Status, response.Header)
		}
	}
	body := text(t, s.get(t, "/fetch?uri=ftp://h.example/pub/", "Accept: text/html", "Referer: http://a/"))
	for _, want := range []string{
		`<a href="/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2Fa">`, `action="/resolver/fetch"`,
		`<a href="/resolver/fetch?uri=ftp%3A%2F%2Fh.example%2Fpub%2F&amp;sort=name">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}
