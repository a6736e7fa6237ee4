package admin_test

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Pages are in the language of Accept-Language, or in the selected one, and link to their translations.
func TestLanguageOfEditors(t *testing.T) {
	s := newSite(t, locked)
	b := s.editorOf(t, token.Token{Role: registry.Writer})
	b.fields = [][2]string{{"Accept-Language", "de"}}
	p := b.get("/registry/edit?kind=prefix")
	for _, want := range []string{`<html lang="de">`, `href="/registry/edit?kind=prefix&amp;lang=fr"`, "Abmelden"} {
		if !strings.Contains(p.Body.String(), want) {
			t.Errorf("no %s: %s", want, p.Body)
		}
	}
	chosen := b.get("/registry/edit?kind=prefix&lang=zh")
	if !strings.Contains(chosen.Body.String(), `<html lang="zh-Hans">`) {
		t.Errorf("chosen: %s", chosen.Body)
	}
	if p = b.get("/registry/names"); !strings.Contains(p.Body.String(), `<html lang="zh-Hans">`) {
		t.Errorf("kept: %s", p.Body)
	}
	if got := chosen.Header().Values("Set-Cookie"); len(got) != 1 ||
		!strings.HasPrefix(got[0], "urnd-lang=zh; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax") {
		t.Errorf("%q", got)
	}
}

// All pages of administrators are in each language, including the frame, titles and the index; texts of
// documents and of the API are marked as English. They fit in the initial congestion window.
func TestLanguagesOfAdministrators(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	// The same in English and other languages.
	same := regexp.MustCompile(`^(urnd|API|Caches|Configuration|Daemon|Site)$`)
	word := regexp.MustCompile(`\p{L}{2,}`)
	for _, target := range []string{
		"/", "/config", "/caches", "/docs", "/docs/names", "/docs/registry", "/docs/caches",
		"/docs/schemas", "/docs/none",
	} {
		english := testserver.OwnTexts(t,
			text(t, adminRequest(h, "127.0.0.1:1", "GET "+target+"?lang=en", "Accept: text/html")))
		for _, l := range pages.Languages() {
			body := text(t, adminRequest(h, "127.0.0.1:1", "GET "+target+"?lang="+l.ShortTag(), "Accept: text/html"))
			var compressed bytes.Buffer
			z := gzip.NewWriter(&compressed)
			_, _ = z.Write([]byte(body))
			_ = z.Close()
			const firstFlight = 14 << 10 // RFC 6928
			if compressed.Len() > firstFlight || !strings.Contains(body, `<html lang="`+l.Tag()+`">`) {
				t.Errorf("%s in %s: %d bytes compressed: %.300s", target, l.Tag(), compressed.Len(), body)
			}
			if target == "/docs/none" { // an error page has no URL in another language
				continue
			}
			for _, other := range pages.Languages() {
				if link := `href="` + target + "?lang=" + other.ShortTag() + `"`; other != l &&
					!strings.Contains(body, link) {
					t.Errorf("%s in %s: no %s", target, l.Tag(), link)
				}
			}
			for _, reported := range testserver.OwnTexts(t, body) {
				if l != pages.English && word.MatchString(reported) && slices.Contains(english, reported) &&
					!same.MatchString(reported) || strings.Contains(reported, "apidoc.") {
					t.Errorf("%s in %s: %q is in English", target, l.Tag(), reported)
				}
			}
		}
	}
}
