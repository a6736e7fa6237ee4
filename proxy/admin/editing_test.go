package admin_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// page is a page that a browser has loaded.
type page struct {
	*httptest.ResponseRecorder
	path string
}

// get requests a page.
func (b *browser) get(target string) page { return page{b.open(target, nil), target} }

// follow follows the redirect of a page.
func (b *browser) follow(t *testing.T, p page) page {
	t.Helper()
	if p.Code != 303 {
		t.Fatalf("%d instead of another page: %s", p.Code, p.text())
	}
	return b.get(p.Header().Get("Location"))
}

// form returns the fields of the form of a page as a browser submits them, and its action.
func (p page) form(t *testing.T) (fields url.Values, action string) {
	t.Helper()
	form := p.parsed().First("form", "class=fields", "method=post")
	if !form.Exists() {
		t.Fatalf("%d, no form: %s", p.Code, p.Body)
	}
	return form.Fields(), form.Attr("action")
}

// parsed returns the parsed page.
func (p page) parsed() testserver.Element { return testserver.ParseHTML(p.Body.String()) }

// press submits the form of a page with a button, after the changes "field=text".
func (b *browser) press(t *testing.T, p page, button string, changes ...string) page {
	t.Helper()
	fields, action := p.form(t)
	for _, change := range changes {
		name, text, _ := strings.Cut(change, "=")
		if _, ok := fields[name]; !ok && !strings.HasSuffix(name, "-remove") && name != "authoritative" {
			t.Fatalf("the form has no field %s: %v", name, fields)
		}
		fields.Set(name, text)
	}
	fields.Set("do", button)
	return page{b.open(action, fields), action}
}

// text returns the text of a page, without its markup.
func (p page) text() string { return p.parsed().Text() }

// expect fails unless a page has a status, and contains texts.
func (p page) expect(t *testing.T, status int, texts ...string) {
	t.Helper()
	if p.Code != status {
		t.Fatalf("%s: %d, want %d: %s", p.path, p.Code, status, p.text())
	}
	for _, want := range texts {
		if !strings.Contains(p.text(), want) {
			t.Errorf("%s does not say %q: %s", p.path, want, p.text())
		}
	}
}

// editorOf returns a browser that has logged in with a new token.
func (s *site) editorOf(t *testing.T, of token.Token) *browser {
	t.Helper()
	if of.Name == "" {
		of.Name = "anna"
	}
	_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin}, of)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(s, here)
	if code, _ := b.logIn(t, secret, "/registry/names"); code != 303 {
		t.Fatalf("logging in: %d", code)
	}
	return b
}

// An editor registers a name, finds it, changes it, sees the changes, and restores a former version.
func TestEditing(t *testing.T) {
	s := newSite(t, locked)
	b := s.editorOf(t, token.Token{Role: registry.Writer})
	list := b.get("/registry/names")
	list.expect(t, 200, "There is none.", "New name", "Changes")
	form := b.get("/registry/edit")
	form.expect(t, 200, "A new name", "Target 1")
	more := b.press(t, form, "add", "name=URN:NBN:fi:a", "t0-uri=https://a.example/1", "title=Kalevala",
		"keywords=epic\r\nold", "t0-from=2030-01-01T12:00")
	more.expect(t, 200, "Target 3")
	seen := b.press(t, more, "preview", "note=first", `metadata={"year": 1835}`)
	seen.expect(t, 200, "urn:nbn:fi:a", "https://a.example/1", "Kalevala", "1835", "epic", "2030-01-01T12:00:00Z",
		"Note: first")
	if r := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", "Authorization: Bearer "+adminToken); r.status != 404 {
		t.Fatalf("a preview has written %s", r.body)
	}
	back := b.press(t, seen, "back")
	fields, _ := back.form(t)
	if fields.Get("keywords") != "epic\r\nold" ||
		fields.Get("t0-from") != "2030-01-01T12:00:00" && fields.Get("t0-from") != "2030-01-01T12:00" ||
		fields.Get("name") != "URN:NBN:fi:a" {
		t.Errorf("back to the form, and lost: %v", fields)
	}
	shown := b.follow(t, b.press(t, seen, "save"))
	shown.expect(t, 200, "It is registered: ", "urn:nbn:fi:a", "active", "Kalevala", "by anna", "first")
	b.get("/registry/names?text=A.EXAMPLE").expect(t, 200, "urn:nbn:fi:a", "Kalevala", "https://a.example/1", "anna")
	b.get("/registry/names?status=reserved").expect(t, 200, "There is none.")

	form = b.get("/registry/edit?uri=urn:nbn:fi:a")
	seen = b.press(t, form, "preview", "t0-uri=https://b.example/", "t1-uri=https://c.example/",
		"contact=mailto:anna@a.example", "note=moved")
	if body := seen.Body.String(); !strings.Contains(body,
		`<del dir="auto">https://a.example/1 (Valid from 2030-01-01T12:00:00Z)</del><ins dir="auto">https://b.example/ (Valid from 2030-01-01T12:00:00Z)</ins><ins dir="auto">https://c.example/</ins>`) {
		t.Errorf("the difference is not shown: %s", body)
	}
	b.follow(t, b.press(t, seen, "save")).expect(t, 200, "The change is saved: ", "mailto:anna@a.example")
	history := b.get("/registry/history?uri=urn:nbn:fi:a")
	history.expect(t, 200, "Version 2", "moved", "Version 1", "first", "Restore this version")
	if _, after, _ := strings.Cut(history.Body.String(), "Version 2"); !strings.Contains(after,
		`<ins dir="auto">https://b.example/`) {
		t.Errorf("no difference in the history: %s", history.Body)
	}
	restored := b.get("/registry/edit?uri=urn:nbn:fi:a&restore=1")
	b.follow(t, b.press(t, b.press(t, restored, "preview"), "save")).expect(t, 200, "The change is saved: ",
		"https://a.example/1")
	n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", "Authorization: Bearer "+adminToken).name(t)
	if n.Version != 3 || len(n.Targets) != 1 || n.Contact != "" || n.By != "anna" || n.Note != "version 1 again" ||
		n.Metadata == "" {
		t.Errorf("restored as %+v", n)
	}
	b.get("/registry/names?prefix=URN:nb").expect(t, 200, "urn:nbn:fi:a", "Kalevala")
	unchanged := b.press(t, b.get("/registry/edit?uri=urn:nbn:fi:a"), "preview")
	if unchanged.expect(t, 200, "Nothing would change."); strings.Contains(unchanged.Body.String(), `value="save"`) {
		t.Error("what changes nothing can be saved")
	}
}

// A conflict shows the concurrent change, and loses neither change.
func TestConflictOfEditors(t *testing.T) {
	s := newSite(t, locked)
	anna, ben := s.editorOf(t, token.Token{Role: registry.Writer}),
		s.editorOf(t, token.Token{Role: registry.Writer, Name: "ben"})
	root := "Authorization: Bearer " + adminToken
	s.ask("PUT "+of(names, "urn:nbn:fi:a"),
		`{"targets":[{"uri":"https://a.example/1"}],"contact":"x","metadata":{"a":1,"b":1}}`, root)
	hers, his := anna.get("/registry/edit?uri=urn:nbn:fi:a"), ben.get("/registry/edit?uri=urn:nbn:fi:a")
	previewed := anna.press(t, hers, "preview", "t0-uri=https://anna.example/", `metadata={"a":2,"b":1}`, "note=hers",
		"title=Hers")
	ben.follow(t,
		ben.press(t, ben.press(t, his, "preview", "contact=ben", "t0-uri=https://ben.example/",
			`metadata={"a":1,"b":2}`, "note=his"), "save"))
	for name, conflict := range map[string]page{
		"when saving": anna.press(t, previewed, "save"),
		"when previewing": anna.press(t, hers, "preview", "t0-uri=https://anna.example/", `metadata={"a":2,"b":1}`,
			"note=hers", "title=Hers"),
	} {
		conflict.expect(t, 412, "Version 2 was saved in the meantime, by ben", "his", "https://a.example/1",
			"https://ben.example/", "https://anna.example/", "both")
		merged := anna.press(t, conflict, "merge")
		fields, _ := merged.form(t)
		for field, want := range map[string]string{
			"contact": "ben", "t0-uri": "https://anna.example/", "title": "Hers",
			"note": "hers", "version": "2",
		} {
			if got := fields.Get(field); got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
		if metadata := strings.Join(strings.Fields(fields.Get("metadata")), ""); metadata != `{"a":2,"b":2}` {
			t.Errorf("%s: the metadata is %s", name, metadata)
		}
		if name == "when previewing" {
			continue
		}
		seen := anna.press(t, merged, "preview")
		seen.expect(t, 200, "https://anna.example/")
	}
	seen := anna.press(t, anna.press(t, anna.press(t, previewed, "save"), "merge"), "preview")
	anna.follow(t, anna.press(t, seen, "save")).expect(t, 200, "The change is saved: ")
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", root).name(t); n.Version != 3 || n.Contact != "ben" ||
		n.Targets[0].URI != "https://anna.example/" {
		t.Errorf("%+v", n)
	}
	// A concurrent registration.
	new := anna.press(t, anna.get("/registry/edit"), "preview", "name=urn:nbn:fi:new", "t0-uri=https://a.example/")
	s.ask("PUT "+of(names, "urn:nbn:fi:new"), `{"targets":[{"uri":"https://b.example/"}]}`, root)
	taken := anna.press(t, new, "save")
	taken.expect(t, 412, "It is already registered")
}

// The form of a merge offers the status of the current version, too, like any other form.
func TestStatusAfterMerge(t *testing.T) {
	s := newSite(t, locked)
	anna, root := s.editorOf(t, token.Token{Role: registry.Writer}), "Authorization: Bearer "+adminToken
	const target = `{"targets":[{"uri":"https://a.example/"}],"status":"reserved"`
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), target+`}`, root)
	hers := anna.get("/registry/edit?uri=urn:nbn:fi:a")
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), target+`,"contact":"x"}`, root, `If-Match: "1"`)
	merged := anna.press(t, anna.press(t, hers, "preview", "status=active"), "merge")
	merged.expect(t, 200)
	var offered []string
	for _, o := range merged.parsed().First("select", "name=status").All("option") {
		offered = append(offered, o.Attr("value"))
	}
	if fields, _ := merged.form(t); fields.Get("status") != "active" || fields.Get("contact") != "x" ||
		!slices.Equal(offered, []string{"active", "reserved"}) {
		t.Errorf("%v, offered %q", fields, offered)
	}
}

// Data without form fields survives any change.
func TestUnknownFieldsSurvive(t *testing.T) {
	s := newSite(t, nil)
	s.ask("PUT "+of(prefixes, "urn:nbn:fi:s:"), `{"sandbox":true,"targets":[{"uri":"https://a.example/"}]}`)
	s.put(t, "urn:nbn:fi:s:a",
		`{"targets":[{"uri":"https://a.example/1","context":"FI","note":"n\nm","from":"2030-01-01T00:00:00.123Z"}],"sandbox":true,"metadata":{"z":"<&>","n":12345678901234567890.10,"title":["a"],"tags":"one"}}`)
	before := s.ask("GET "+of(names, "urn:nbn:fi:s:a"), "").name(t)
	b := newBrowser(s, here)
	form := b.get("/registry/edit?uri=urn:nbn:fi:s:a")
	if p := b.press(t, form, "preview"); !strings.Contains(p.text(), "Nothing would change.") {
		t.Errorf("an unchanged form changes the name: %s", p.text())
	}
	b.follow(t, b.press(t, b.press(t, form, "preview", "contact=c", "t0-rel=item"), "save"))
	after := s.ask("GET "+of(names, "urn:nbn:fi:s:a"), "").name(t)
	if before.Targets[0].Rel = "item"; after.Targets[0] != before.Targets[0] || !after.Sandbox ||
		after.Contact != "c" || after.Metadata != before.Metadata {
		t.Errorf("%+v, before %+v; metadata %s", after, before, after.Metadata)
	}
	// Including members of a future API.
	fields, action := b.get("/registry/edit?uri=urn:nbn:fi:s:a").form(t)
	fields.Set("rest", `{"later":1}`)
	fields.Set("t0-rest", `{"later":2}`)
	fields.Set("do", "preview")
	if w := (page{b.open(action, fields), action}); !strings.Contains(w.text(), `unknown field "later"`) {
		t.Errorf("they do not reach the API: %s", w.text())
	}
}

// The form preserves the input after an error, and shows the error at its field.
func TestFormErrors(t *testing.T) {
	s := newSite(t, nil)
	b := newBrowser(s, here)
	filled := []string{"name=urn:nbn:fi:a", "t0-uri=https://a.example/"}
	for _, tt := range []struct{ change, field, expect string }{
		{"name=", "name", "Enter a name"},
		{"name=urn:nbn:fi: x", "name", "“ urn:nbn:fi: x ” cannot be read from “ x ” on. This byte is not allowed"},
		{"name=urn:isbn:9780395363410", "name", "The check digit should be 6"},
		{"name=abc", "name", "as urn:nbn:fi:a does. An absolute URI begins with a scheme and a colon."},
		{"name=urn:nbn:fi:" + strings.Repeat("n", 2000), "name", "at most 1280 bytes"},
		{"t0-uri=not a uri", "t0-uri", "no address that can be opened"},
		{"t0-uri=javascript:alert(1)", "t0-uri", "no address that can be opened"},
		{"t0-uri=www.example.org/a b", "t0-uri", "Did you mean https://www.example.org/a%20b ?"},
		{"t0-uri=https://a.example/" + strings.Repeat("n", 9000), "t0-uri", "too long"},
		{"t0-uri=", "t0-uri", "needs a target"},
		{"t0-priority=first", "t0-priority", "number"},
		{"t0-from=31.12.", "t0-from", "2031-05-01"},
		{"t0-title=" + strings.Repeat("n", 5000), "t0-title", "too long"},
		{"t0-note=" + strings.Repeat("n", 5000), "t0-note", "too long"},
		{"t0-context=" + strings.Repeat("n", 5000), "t0-context", "too long"},
		{"t0-language=" + strings.Repeat("n", 5000), "t0-language", "too long"},
		{"t0-type=" + strings.Repeat("n", 5000), "t0-type", "too long"},
		{"title=" + strings.Repeat("n", 70000), "metadata", "65,536 bytes together"},
		{"year=" + strings.Repeat("n", 70000), "metadata", "65,536 bytes together"},
		{"metadata={", "metadata", "JSON"},
		{"metadata=[]", "metadata", "object"},
		{`metadata={"a":1} x`, "metadata", "line 1, column 9"},
		{`metadata={"a":}`, "metadata", "line 1, column 6"},
		{`metadata={"a":1,"a":2}`, "metadata", "a"},
		{"t1-type=text/html", "t1-uri", "needs an address"},
		{"alias=urn:nbn:fi:b", "alias", "no targets of its own"},
		{"note=" + strings.Repeat("n", 5000), "note", "4096 bytes"},
		{"contact=" + strings.Repeat("n", 5000), "contact", "4096 bytes"},
		{"t0-rel=no relation", "t0-rel", "relation"},
		{"redirect=200", "redirect", "redirect"},
		{"redirect=x", "redirect", "301, 302"},
		{"status=gone", "status", "gone"},
	} {
		p := b.press(t, b.get("/registry/edit"), "preview", append(filled, tt.change)...)
		if p.Code < 400 || p.Code >= 500 || !strings.Contains(p.text(), tt.expect) ||
			tt.field != "" && !strings.Contains(p.Body.String(), `id="`+tt.field+`-error"`) {
			t.Errorf("%.60s: %d, %s", tt.change, p.Code, p.text())
		}
		fields, _ := p.form(t)
		name, text, _ := strings.Cut(tt.change, "=")
		if got := fields.Get(name); got != text && tt.field != "status" {
			t.Errorf("%.60s: typed again is %.60q", tt.change, got)
		}
		// All of these errors have a code, and so a translation: none is shown in the registry's English.
		b.fields = [][2]string{{"Accept-Language", "de"}}
		if p := b.press(t, b.get("/registry/edit"), "preview", append(filled, tt.change)...); strings.Contains(p.text(),
			"nicht angenommen") {
			t.Errorf("%.60s: in German: %s", tt.change, p.text())
		}
		b.fields = nil
	}
	// A button accepts the suggested URI for a target without a scheme.
	p := b.press(t, b.get("/registry/edit"), "preview", append(filled, "t0-uri=www.example.org/ä")...)
	b.press(t, p, "meant 0").expect(t, 200, "urn:nbn:fi:a", "https://www.example.org/%C3%A4")
}

// Actions that the actor is not authorized for are neither offered nor accepted, even if they were before.
func TestRightsOfEditors(t *testing.T) {
	s := newSite(t, locked)
	root := "Authorization: Bearer " + adminToken
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/1"}]}`, root)
	s.ask("PUT "+of(names, "urn:nbn:de:a"), `{"targets":[{"uri":"https://a.example/1"}]}`, root)
	for _, tt := range []struct {
		name         string
		token        token.Token
		offered, not []string
		edit         int
	}{
		{
			"a reader",
			token.Token{Role: registry.Reader},
			[]string{"History"},
			[]string{">Edit<", "Withdraw", "New name"},
			403,
		},
		{"a writer", token.Token{Role: registry.Writer}, []string{"History", ">Edit<", "Withdraw"}, nil, 200},
		{
			"who only reads",
			token.Token{Role: registry.Writer, Actions: []registry.Action{registry.ActRead}},
			[]string{"History"},
			[]string{">Edit<", "Withdraw", "New name"},
			403,
		},
		{
			"who may not withdraw",
			token.Token{Role: registry.Writer, Actions: []registry.Action{registry.ActRead, registry.ActChange}},
			[]string{">Edit<"},
			[]string{"Withdraw"},
			200,
		},
		{
			"one of fi",
			token.Token{Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:"}},
			[]string{">Edit<", "Withdraw"},
			nil, 200,
		},
	} {
		b := s.editorOf(t, tt.token)
		p := b.get("/registry/name?uri=urn:nbn:fi:a")
		body := p.Body.String() + b.get("/registry/names").Body.String()
		for _, word := range tt.offered {
			if !strings.Contains(body, word) {
				t.Errorf("%s is not offered %s: %d %s", tt.name, word, p.Code, p.text())
			}
		}
		for _, word := range tt.not {
			if strings.Contains(body, word) {
				t.Errorf("%s is offered %s", tt.name, word)
			}
		}
		if p := b.get("/registry/edit?uri=urn:nbn:fi:a"); p.Code != tt.edit {
			t.Errorf("%s: %d", tt.name, p.Code)
		}
		set := b.get("/registry/changes/1")
		if set.expect(t, 200); strings.Contains(set.Body.String(), "Revert") {
			t.Errorf("%s may take back change sets", tt.name)
		}
		fields := url.Values{"csrf": {csrf(t, p.ResponseRecorder)}, "note": {"n"}, "do": {"save"}}
		if w := b.open("/registry/changes/1", fields); w.Code != 403 {
			t.Errorf("%s takes a change set back: %d", tt.name, w.Code)
		}
	}
	fi := s.editorOf(t, token.Token{Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:"}})
	for _, target := range []string{
		"/registry/name?uri=urn:nbn:de:a", "/registry/edit?uri=urn:nbn:de:a",
		"/registry/history?uri=urn:nbn:de:a", "/registry/withdraw?uri=urn:nbn:de:a", "/registry/names?prefix=urn:nbn:",
		"/registry/changes?prefix=urn:nbn:", "/registry/changes/2?prefix=urn:nbn:de:",
	} {
		if p := fi.get(target); p.Code != 403 {
			t.Errorf("%s: %d %s", target, p.Code, p.text())
		}
	}
	if p := fi.get("/registry/changes/2"); p.Code != 404 {
		t.Errorf("a change set of others: %d %s", p.Code, p.text())
	}
	if p := fi.get("/registry/edit?uri=urn:nbn:fi:&kind=prefix"); p.Code < 400 {
		t.Errorf("a writer edits prefixes: %d", p.Code)
	}
	denied := fi.press(t, fi.get("/registry/edit"), "preview", "name=urn:nbn:de:b", "t0-uri=https://a.example/")
	denied.expect(t, 403, "your token is for names that begin with")
	if fields, _ := denied.form(t); fields.Get("t0-uri") != "https://a.example/" {
		t.Error("the input was lost")
	}
	// The token is revoked between the preview and saving.
	all, _, err := token.NewVerifier(s.registry).List(t.Context(), registry.Actor{Name: "root", Role: registry.Admin})
	if err != nil {
		t.Fatal(err)
	}
	seen := fi.press(t, fi.get("/registry/edit?uri=urn:nbn:fi:a"), "preview", "contact=c")
	for _, one := range all {
		if _, err := token.Revoke(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin},
			one.ID); err != nil {
			t.Fatal(err)
		}
	}
	fi.press(t, seen, "save").expect(t, 403, "Your session has expired.")
	if e, err := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:a")); err != nil || e.Contact == "c" {
		t.Errorf("with a token that was revoked: %+v, %v", e, err)
	}
}

// No form is accepted without a valid CSRF token.
func TestForgedEdits(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	b := newBrowser(s, here)
	for _, target := range []string{
		"/registry/edit?uri=urn:nbn:fi:a", "/registry/edit",
		"/registry/withdraw?uri=urn:nbn:fi:a", "/registry/changes/1",
	} {
		fields, action := b.get(target).form(t)
		fields.Set("do", "save")
		fields.Set("contact", "forged")
		fields.Set("reason", "forged")
		fields.Set("note", "forged")
		for _, field := range []string{"", "wrong"} {
			if fields.Set("csrf", field); field == "" {
				fields.Del("csrf")
			}
			if w := b.open(action, fields); w.Code != 403 {
				t.Errorf("%s with %q: %d", target, field, w.Code)
			}
		}
	}
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t); n.Version != 1 {
		t.Errorf("%+v", n)
	}
}

// Names are withdrawn with a reason, or successors, after a preview; an explicit edit restores them.
func TestWithdrawing(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	b := newBrowser(s, here)
	form := b.get("/registry/withdraw?uri=urn:nbn:fi:a")
	b.press(t, form, "preview").expect(t, 422, "Say why it is withdrawn")
	wrong := b.press(t, form, "preview", "successors=urn:nbn:fi:a")
	wrong.expect(t, 422, "instead of itself")
	seen := b.press(t, wrong, "preview", "successors=urn:nbn:fi:b\r\nhttps://c.example/", "reason=two\r\nvolumes",
		"note=board")
	seen.expect(t, 200, "Withdraw \u2068urn:nbn:fi:a\u2069?", "urn:nbn:fi:b", "https://c.example/", "withdrawn",
		"Note: board")
	s.ask("PATCH "+of(names, "urn:nbn:fi:a"), `{"contact":"other"}`)
	meanwhile := b.press(t, seen, "save")
	meanwhile.expect(t, 412, "Version 2 was saved in the meantime", "other", "two")
	back := b.press(t, b.press(t, meanwhile, "preview"), "back")
	back.expect(t, 200, "volumes")
	b.follow(t, b.press(t, b.press(t, back, "preview"), "save")).expect(t, 200, " is withdrawn.", "two",
		"https://c.example/")
	n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t)
	if n.Status != registry.Withdrawn || n.Reason != "two\nvolumes" || len(n.Successors) != 2 || n.Note != "board" ||
		n.Contact != "other" {
		t.Errorf("%+v", n)
	}
	b.get("/registry/withdraw?uri=urn:nbn:fi:a").expect(t, 422, "already withdrawn")
	if restored := b.get("/registry/edit?uri=urn:nbn:fi:a&restore=1"); strings.Contains(restored.Body.String(),
		"/registry/withdraw") {
		t.Error("a withdrawn name can be withdrawn")
	}
	edit := b.get("/registry/edit?uri=urn:nbn:fi:a")
	b.follow(t, b.press(t, b.press(t, edit, "preview", "reason=three volumes"), "save")).expect(t, 200, "three volumes",
		"withdrawn")
	edit = b.get("/registry/edit?uri=urn:nbn:fi:a")
	b.follow(t, b.press(t, b.press(t, edit, "preview", "status=active"), "save")).expect(t, 200, "active")
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t); n.Status != registry.Active || n.Reason != "" {
		t.Errorf("%+v", n)
	}
}

// Change sets are listed, shown, and reverted after a preview.
func TestChangesOfEditors(t *testing.T) {
	s := newSite(t, nil)
	for i := range 3 {
		s.put(t, fmt.Sprintf("urn:nbn:fi:%d", i), `{"targets":[{"uri":"https://a.example/"}],"note":"made"}`)
	}
	s.ask("PATCH "+of(names, "urn:nbn:fi:0"), `{"contact":"wrong","note":"a mistake"}`)
	b := newBrowser(s, here)
	list := b.get("/registry/changes")
	list.expect(t, 200, "4", "a mistake", "a change", "urn:nbn:fi:0", "urn:nbn:fi:2", "admin")
	if body := list.Body.String(); strings.Index(body, "/registry/changes/4") > strings.Index(body,
		"/registry/changes/1") {
		t.Error("the newest is not first")
	}
	b.get("/registry/changes?by=unknown").expect(t, 200, "There is none.")
	b.get("/registry/changes?prefix=urn:nbn:fi:2").expect(t, 200, "made")
	b.get("/registry/changes?since=2999-01-01").expect(t, 200, "There is none.")
	set := b.get("/registry/changes/4")
	set.expect(t, 200, "a mistake", "urn:nbn:fi:0", "wrong", "Revert")
	b.press(t, set, "preview").expect(t, 422, "Say why")
	b.press(t, set, "save").expect(t, 422, "Say why")
	seen := b.press(t, set, "preview", "note=was wrong")
	seen.expect(t, 200, "1 name or prefix is restored", "wrong")
	done := b.follow(t, b.press(t, seen, "save"))
	done.expect(t, 200, "The change set is reverted by this one.", "revert of change set 4", "was wrong")
	if n := s.ask("GET "+of(names, "urn:nbn:fi:0"), "").name(t); n.Contact != "" || n.Version != 3 {
		t.Errorf("%+v", n)
	}
	first := b.press(t, b.get("/registry/changes/1"), "preview", "note=all")
	first.expect(t, 200, "1 does not change", "changed since")
	if strings.Contains(first.Body.String(), `value="save"`) {
		t.Error("there is nothing to take back, and a button")
	}
	b.get("/registry/changes/99").expect(t, 404)
	b.get("/registry/changes/x").expect(t, 404)
}

// linkTo returns the target of the link on a page that has one of the texts, "" for none.
func linkTo(e testserver.Element, texts ...string) string {
	for _, a := range e.All("a") {
		if slices.Contains(texts, a.Text()) {
			return a.Attr("href")
		}
	}
	return ""
}

// Long lists are split into pages.
func TestPagesOfEditors(t *testing.T) {
	s := newSite(t, nil)
	for i := range 120 {
		s.put(t, fmt.Sprintf("urn:nbn:fi:%03d", i), `{"targets":[{"uri":"https://a.example/"}]}`)
	}
	for i := range 25 {
		s.ask("PATCH "+of(names, "urn:nbn:fi:000"), fmt.Sprintf(`{"contact":"c%d"}`, i))
	}
	b := newBrowser(s, here)
	for target, want := range map[string]struct {
		pages int
		row   []string
		rows  int
	}{
		"/registry/names?text=a.example":           {3, []string{"th", "scope=row"}, 120},
		"/registry/changes":                        {3, []string{"th", "scope=row", "class=count"}, 145},
		"/registry/history?uri=urn%3Anbn:fi%3A000": {2, []string{"section", "class=version"}, 26},
	} {
		pages, rows := 0, 0
		for target != "" {
			p := b.get(target)
			p.expect(t, 200)
			pages++
			rows += len(p.parsed().All(want.row[0], want.row[1:]...))
			target = linkTo(p.parsed(), "Next page", "Older changes", "Older versions")
		}
		if pages != want.pages || rows != want.rows {
			t.Errorf("%d pages with %d rows, want %d with %d", pages, rows, want.pages, want.rows)
		}
	}
}

// A prefix has its own fields.
func TestEditingPrefix(t *testing.T) {
	s := newSite(t, nil)
	b := newBrowser(s, here)
	form := b.get("/registry/edit?kind=prefix")
	form.expect(t, 200, "A new prefix")
	seen := b.press(t, form, "preview", "name=urn:nbn:fi:p:", "t0-uri=https://a.example/{suffix}", "pattern=[0-9]+",
		"authoritative=yes")
	seen.expect(t, 200, "[0-9]+", "All of its names are registered")
	b.follow(t, b.press(t, seen, "save")).expect(t, 200, "urn:nbn:fi:p:*", "[0-9]+")
	edit := b.get("/registry/edit?uri=urn:nbn:fi:p:&kind=prefix")
	fields, action := edit.form(t)
	if fields.Get("authoritative") != "yes" {
		t.Errorf("%v", fields)
	}
	fields.Del("authoritative")
	fields.Set("do", "preview")
	b.follow(t, b.press(t, page{b.open(action, fields), action}, "save"))
	if n := s.ask("GET "+of(prefixes, "urn:nbn:fi:p:"), "").name(t); n.Authoritative || n.Pattern != "[0-9]+" ||
		n.Version != 2 {
		t.Errorf("%+v", n)
	}
	b.press(t, edit, "preview", "pattern=(").expect(t, 412)
	b.press(t, b.get("/registry/edit?uri=urn:nbn:fi:p:&kind=prefix"), "preview", "pattern=(").expect(t, 422,
		"regular expression")
	b.get("/registry/history?uri=urn:nbn:fi:p:&kind=prefix").expect(t, 200, "Version 2")
	b.get("/registry/edit?uri=urn:nbn:fi:p:&kind=other").expect(t, 400)
}

// The page of a name shows the health of checked targets, and links to the public page of the name.
func TestNameOfEditors(t *testing.T) {
	s := newSite(t, func(c *admin.Config) { c.PublicURL = "https://urn.example/resolver" })
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"},{"uri":"https://a.example/2"}]}`)
	s.put(t, "urn:nbn:fi:alias", `{"alias":"urn:nbn:fi:a"}`)
	b := newBrowser(s, here)
	if p := b.get("/registry/name?uri=urn:nbn:fi:a"); strings.Contains(p.text(), "Health") {
		t.Errorf("nothing was checked: %s", p.text())
	}
	dead := registry.Health{
		Name: "urn:nbn:fi:a", URI: "https://a.example/1", State: "unhealthy",
		Checked: time.Date(2031, 5, 1, 10, 0, 0, 0, time.UTC), Failures: 7,
		Detail: []byte("{}"),
	}
	if err := s.registry.Store().Write(t.Context(),
		func(tx registry.WriteTx) error { return tx.PutHealth(dead) }); err != nil {
		t.Fatal(err)
	}
	p := b.get("/registry/name?uri=URN:NBN:fi:a")
	p.expect(t, 200, "Health", "dead 2031-05-01 10:00:00 UTC", "https://a.example/2")
	if !strings.Contains(p.Body.String(), `href="https://urn.example/resolver/urn:nbn:fi:a?preview"`) {
		t.Errorf("no link to its page: %s", p.Body)
	}
	alias := b.get("/registry/name?uri=urn:nbn:fi:alias")
	alias.expect(t, 200, "alias of urn:nbn:fi:a")
	b.get("/registry/name?uri=urn:nbn:fi:none").expect(t, 404)
	b.get("/registry/name").expect(t, 400)
}
