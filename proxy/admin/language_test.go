package admin_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Pages are in the language that a browser asks for, or that was chosen before, and lead to themselves in others.
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
	if got := chosen.Header().Values("Set-Cookie"); len(got) != 1 || !strings.HasPrefix(got[0], "urnd-lang=zh; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax") {
		t.Errorf("%q", got)
	}
}
