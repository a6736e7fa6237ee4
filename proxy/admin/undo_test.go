package admin_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Whoever has saved a change can undo it by one button, once, and only if nobody has changed the name since.
// Its outcome is shown once.
func TestUndo(t *testing.T) {
	s := newSite(t, locked)
	auth := "Authorization: Bearer " + adminToken
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/"}],"contact":"first"}`, auth)
	b, other := s.editorOf(t, token.Token{Role: registry.Writer}),
		s.editorOf(t, token.Token{Role: registry.Writer, Name: "ben"})
	change := func(b *browser, contact string) page {
		p := b.press(t, b.get("/registry/edit?uri=urn:nbn:fi:a"), "preview", "contact="+contact)
		return b.follow(t, b.press(t, p, "save"))
	}
	press := func(b *browser, p page) page {
		form := p.parsed().First("form", "action=/registry/history?uri=urn%3Anbn%3Afi%3Aa")
		if !form.Exists() {
			t.Fatalf("no button: %s", p.text())
		}
		fields := form.Fields()
		fields.Set("do", "undo")
		return page{b.open("/registry/history?uri=urn:nbn:fi:a", fields), ""}
	}
	saved := change(b, "second")
	saved.expect(t, 200, "The change is saved: urn:nbn:fi:a has version 2.", "Revert this change")
	if again := b.get(saved.path); strings.Contains(again.text(), "The change is saved") {
		t.Error("it is said twice")
	}
	if history := other.get("/registry/history?uri=urn:nbn:fi:a"); strings.Contains(history.text(),
		"Revert this change") {
		t.Error("the change of another one is offered")
	}
	b.follow(t, press(b, b.get("/registry/history?uri=urn:nbn:fi:a"))).expect(t, 200,
		"urn:nbn:fi:a is reverted by version 3.", "first")
	press(b, saved).expect(t, 412, "Nothing was reverted: the current version is 3", "Version 2")
	saved = change(b, "third")
	change(other, "fourth")
	press(b, saved).expect(t, 412, "Nothing was reverted: the current version is 5, by ben")
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", auth).name(t); n.Contact != "fourth" || n.Version != 5 {
		t.Errorf("%+v", n)
	}
}
