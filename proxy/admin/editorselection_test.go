package admin_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// saving returns the form of the page of a selection that makes the previewed change.
func saving(t *testing.T, shown *httptest.ResponseRecorder) url.Values {
	t.Helper()
	form := url.Values{"csrf": {csrf(t, shown)}, "do": {"save"}}
	page := testserver.ParseHTML(shown.Body.String())
	for _, name := range []string{"as_of", "checked"} {
		form.Set(name, page.First("input", "name="+name).Attr("value"))
	}
	return form
}

// Selected names are changed together: after a preview, and as one change set.
func TestSelection(t *testing.T) {
	s := newJobSite(t)
	s.has(t, "urn:nbn:fi:a", "https://old.example/a", "urn:nbn:fi:b", "https://old.example/b", "urn:nbn:fi:c",
		"https://c.example/")
	b := s.editor(t)
	list := b.open("/registry/names?prefix=urn:nbn:fi:&uri=urn:nbn:fi:c", nil)
	field := csrf(t, list)
	if boxes := testserver.ParseHTML(list.Body.String()).All("input", "type=checkbox", "name=uri"); len(boxes) != 3 {
		t.Fatalf("%d boxes", len(boxes))
	}
	if hidden := testserver.ParseHTML(list.Body.String()).All("input", "type=hidden", "name=uri"); len(hidden) > 0 {
		t.Error("an address selects names")
	}
	none := b.open("/registry/selection", url.Values{"csrf": {field}, "prefix": {"urn:nbn:fi:"}, "do": {"selected"}})
	wantText(t, b.open(none.Header().Get("Location"), nil), 200, "No name was selected", "urn:nbn:fi:c")
	for _, tt := range []struct {
		name, all string
		form      url.Values
		want      []string // of the page
		value     func(n registry.Entry) string
		after     string
	}{
		{
			"a keyword", "",
			url.Values{"task": {"tag"}, "tag": {"epic"}},
			[]string{"2 names would change", "epic"},
			func(n registry.Entry) string { return n.Metadata }, `{"tags":["epic"]}`,
		},
		{
			"a keyword again", "all",
			url.Values{"task": {"tag"}, "tag": {"Epic"}},
			[]string{"1 name would change", "2 would stay"},
			func(n registry.Entry) string { return n.Metadata },
			`{"tags":["epic"]}`,
		},
		{
			"no keyword", "all",
			url.Values{"task": {"untag"}, "untag": {"epic"}},
			[]string{"3 names would change"},
			func(n registry.Entry) string { return n.Metadata }, "",
		},
		{
			"a contact", "",
			url.Values{"task": {"contact"}, "contact": {"anna@example.org"}},
			[]string{"2 names"},
			func(n registry.Entry) string { return n.Contact }, "anna@example.org",
		},
		{
			"targets", "all",
			url.Values{
				"task": {"replace"}, "replace": {"https://old.example/"},
				"with": {"https://new.example/"},
			},
			[]string{"2 names", "1 would stay"},
			func(n registry.Entry) string { return n.Targets[0].URI }, "https://new.example/a",
		},
		{
			"withdrawn", "",
			url.Values{"task": {"withdraw"}, "reason": {"a test"}, "note": {"because"}},
			[]string{"withdrawn"},
			func(n registry.Entry) string { return n.Status.String() + n.Reason + n.Note },
			"withdrawna testbecause",
		},
		{
			"active again", "",
			url.Values{"task": {"activate"}},
			[]string{"active"},
			func(n registry.Entry) string { return n.Status.String() + n.Reason }, "active",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chosen := url.Values{
				"csrf": {field}, "prefix": {"urn:nbn:fi:"}, "do": {"selected"},
				"uri": {"urn:nbn:fi:a", "urn:nbn:fi:b"},
			}
			if tt.all != "" {
				chosen.Set("do", "all")
			}
			at := b.open("/registry/selection", chosen).Header().Get("Location")
			wantText(t, b.open(at, nil), 200, "Add a keyword", "urn:nbn:fi:b")
			tt.form.Set("csrf", field)
			w := b.open(at, tt.form)
			if w.Code != 303 || w.Header().Get("Location") != at {
				t.Fatalf("%d %v", w.Code, w.Header())
			}
			page := b.open(at, nil)
			wantText(t, page, 200, tt.want...)
			w = b.open(at, saving(t, page))
			if w.Code != 303 || !strings.HasPrefix(w.Header().Get("Location"), "/registry/changes/") {
				t.Fatalf("%d %v %s", w.Code, w.Header(), textOf(w))
			}
			wantText(t, b.open(w.Header().Get("Location"), nil), 200, "saved", "Changed entries")
			n, err := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:a"))
			if err != nil || tt.value(n) != tt.after || n.By != "anna" {
				t.Errorf("%+v, %v, want %s", n, err, tt.after)
			}
			if w := b.open(at, nil); w.Code != 404 {
				t.Errorf("it is there still: %d", w.Code)
			}
		})
	}
}

// All results of a search are selected up to the limit itself; more of them are an error.
func TestSelectionOfAll(t *testing.T) {
	s := newJobSite(t)
	const most = 1000
	edits := make([]registry.Edit, most+1)
	for i := range edits {
		edits[i] = registry.Edit{
			Key: registry.Name(fmt.Sprintf("urn:nbn:fi:%04d", i)), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Targets: []registry.Target{{URI: "https://many.example/"}}}),
		}
	}
	b := s.editor(t)
	all := url.Values{"csrf": {csrf(t, b.open("/registry/names", nil))}, "do": {"all"}, "target": {"many.example"}}
	for _, want := range []int{most, most + 1} {
		if _, err := s.registry.Apply(t.Context(), registry.Actor{Name: "root", Role: registry.Admin},
			edits[:want]...); err != nil {
			t.Fatal(err)
		}
		w := b.open("/registry/selection", all)
		if want > most {
			wantText(t, w, 422, "more than 1000 names")
		} else if wantText(t, b.open(w.Header().Get("Location"), nil), 200, "1,000 names"); w.Code != 303 {
			t.Errorf("%d of %d results: %s", w.Code, want, textOf(w))
		}
	}
}

// Missing input is reported, with all input preserved, and changes since the preview are not overwritten.
func TestSelectionConflicts(t *testing.T) {
	s := newJobSite(t)
	s.has(t, "urn:nbn:fi:a", "https://a.example/", "urn:nbn:fi:b", "https://b.example/")
	b := s.editor(t)
	field := csrf(t, b.open("/registry/names", nil))
	at := b.open("/registry/selection",
		url.Values{
			"csrf": {field}, "do": {"selected"},
			"uri": {"urn:nbn:fi:a", "urn:nbn:fi:b"},
		}).Header().Get("Location")
	for want, form := range map[string]url.Values{
		"Choose a change":          {"task": {"fly"}},
		"which keyword":            {"task": {"tag"}},
		"what the targets begin":   {"task": {"replace"}, "with": {"https://x.example/"}},
		"why they are withdrawn":   {"task": {"withdraw"}},
		"Say what they begin with": {"task": {"replace"}, "replace": {"https://a.example/"}},
	} {
		form.Set("csrf", field)
		b.open(at, form)
		page := b.open(at, nil)
		if want == "Choose a change" {
			wantText(t, page, 422, "Choose a change")
			continue
		}
		wantText(t, page, 422, want)
		if with := form.Get("with"); with != "" && !strings.Contains(page.Body.String(), `value="`+with+`"`) {
			t.Errorf("the input was lost: %s", page.Body)
		}
	}
	b.open(at, url.Values{"csrf": {field}, "task": {"contact"}, "contact": {"x"}})
	seen := saving(t, b.open(at, nil))
	s.has(t, "urn:nbn:fi:b", "https://other.example/")
	w := b.open(at, seen)
	wantText(t, w, 412, "urn:nbn:fi:b was changed meanwhile")
	if n, _ := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:a")); n.Contact != "" {
		t.Errorf("a part was changed: %+v", n)
	}
	other := s.person(t, token.Token{Name: "bo", Role: registry.Writer})
	if w := other.open(at, nil); w.Code != 404 {
		t.Errorf("the selection of another one: %d", w.Code)
	}
	reader := s.person(t, token.Token{Name: "reader", Role: registry.Reader})
	if w := reader.open(at, nil); w.Code != 403 ||
		strings.Contains(reader.open("/registry/names", nil).Body.String(), `type="checkbox" name="uri"`) {
		t.Errorf("a reader may change: %d", w.Code)
	}
}

// Only the change that was previewed is made: another tab may have chosen another one.
func TestSelectionOfAnotherTab(t *testing.T) {
	s := newJobSite(t)
	s.has(t, "urn:nbn:fi:a", "https://a.example/")
	b := s.editor(t)
	field := csrf(t, b.open("/registry/names", nil))
	at := b.open("/registry/selection",
		url.Values{"csrf": {field}, "do": {"selected"}, "uri": {"urn:nbn:fi:a"}}).Header().Get("Location")
	b.open(at, url.Values{"csrf": {field}, "task": {"contact"}, "contact": {"x"}})
	seen := saving(t, b.open(at, nil))
	b.open(at, url.Values{"csrf": {field}, "task": {"withdraw"}, "reason": {"a mistake"}})
	other := saving(t, b.open(at, nil))
	w := b.open(at, seen)
	wantText(t, w, 422, "Preview the changes first")
	if !strings.Contains(w.Body.String(), `value="a mistake"`) {
		t.Errorf("the input was lost: %s", w.Body)
	}
	if n, err := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:a")); err != nil ||
		n.Status != registry.Active || n.Contact != "" {
		t.Errorf("%+v, %v", n, err)
	}
	if w = b.open(at, other); w.Code != 303 {
		t.Errorf("the last one: %d %s", w.Code, w.Body)
	}
	// A double click, whose second reply the browser shows.
	if w = b.open(at, other); strings.Contains(w.Body.String(), "Nothing has changed") {
		t.Errorf("what was changed is denied: %s", w.Body)
	}
	wantText(t, w, 410, "no longer stored", "urn:nbn:fi:a", "anna")
}

// The list is ordered by name, or by the last change, and the complete result can be exported.
func TestOrderOfNames(t *testing.T) {
	s := newSite(t, nil)
	s.has(t, "urn:nbn:fi:a", "https://a.example/", "urn:nbn:fi:b", "https://b.example/", "urn:nbn:se:c",
		"https://c.example/")
	s.has(t, "urn:nbn:fi:a", "https://a.example/2")
	b := newBrowser(s, here)
	for query, want := range map[string]string{
		"":                                "urn:nbn:fi:a urn:nbn:fi:b urn:nbn:se:c",
		"?sort=changed":                   "urn:nbn:fi:a urn:nbn:se:c urn:nbn:fi:b",
		"?sort=changed&prefix=urn:nbn:fi": "urn:nbn:fi:a urn:nbn:fi:b",
		"?sort=changed&target=c.example":  "urn:nbn:se:c",
	} {
		var got []string
		for _, row := range testserver.ParseHTML(b.open("/registry/names"+query, nil).Body.String()).All("th",
			"scope=row") {
			got = append(got, row.Text())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	links := testserver.ParseHTML(b.open("/registry/names?prefix=urn:nbn:fi:&sort=changed", nil).Body.String()).All("a",
		"download")
	if len(links) != 2 {
		t.Fatalf("%d files", len(links))
	}
	for _, link := range links {
		if w := b.open(link.Attr("href"), nil); w.Code != 200 || strings.Count(w.Body.String(), "urn:nbn:fi:") != 2 ||
			strings.Contains(w.Body.String(), "urn:nbn:se:") {
			t.Errorf("%s: %d %s", link.Attr("href"), w.Code, w.Body)
		}
	}
}

// The next free name of a pattern in use is offered and reserved, and its form opens.
func TestNextFreeName(t *testing.T) {
	s := newSite(t, locked)
	b := s.editor(t)
	page := b.open("/registry/mint?prefix=urn:nbn:fi:", nil)
	wantText(t, page, 200, "The next free name is reserved")
	field := csrf(t, page)
	if typed := testserver.ParseHTML(page.Body.String()).First("input",
		"name=other").Attr("value"); typed != "urn:nbn:fi:{counter}" {
		t.Errorf("%q is offered", typed)
	}
	w := b.open("/registry/mint", url.Values{"csrf": {field}, "other": {"urn:nbn:fi:lib-{counter:4}"}})
	if at := w.Header().Get("Location"); w.Code != 303 || at != "/registry/edit?uri=urn%3Anbn%3Afi%3Alib-0001" {
		t.Fatalf("%d %s %s", w.Code, at, textOf(w))
	}
	wantText(t, b.open("/registry/mint?prefix=URN:nbn:fi:", nil), 200, "urn:nbn:fi:lib-0002",
		"urn:nbn:fi:lib-{counter:4}")
	w = b.open("/registry/mint", url.Values{"csrf": {field}, "pattern": {"urn:nbn:fi:lib-{counter:4}"}, "other": {"x"}})
	if at := w.Header().Get("Location"); at != "/registry/edit?uri=urn%3Anbn%3Afi%3Alib-0002" {
		t.Errorf("%d %s", w.Code, at)
	}
	if n, err := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:lib-0002")); err != nil ||
		n.Status != registry.Reserved || n.By != "anna" {
		t.Errorf("%+v, %v", n, err)
	}
	wantText(t, b.open("/registry/mint", url.Values{"csrf": {field}, "other": {"urn:nbn:fi:{"}}), 422, "brace")
	limited := s.person(t, token.Token{Name: "se", Role: registry.Writer, Prefixes: []string{"urn:nbn:se:"}})
	if page := limited.open("/registry/mint?prefix=urn:nbn:fi:", nil); strings.Contains(textOf(page), "lib-") {
		t.Errorf("the pattern of another one is shown: %s", textOf(page))
	}
	if w := limited.open("/registry/mint",
		url.Values{
			"csrf":  {csrf(t, limited.open("/registry/mint", nil))},
			"other": {"urn:nbn:fi:{counter}"},
		}); w.Code != 403 {
		t.Errorf("it is minted: %d", w.Code)
	}
}

// The pages about many names are translated into each language, without bare message identifiers.
func TestPagesOfManyNamesInLanguages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		s.has(t, "urn:nbn:fi:a", "https://a.example/", "urn:nbn:fi:b", "https://b.example/")
		b := s.editor(t)
		at := b.send(t, "a.csv", "name,target,other\nurn:nbn:fi:a,https://new.example/,x\nwrong,,\n")
		fields := form(t, b.open(at, nil))
		fields.Set("do", "check")
		job := b.open(at, fields).Header().Get("Location")
		time.Sleep(time.Minute)
		selected := b.open("/registry/selection",
			url.Values{"csrf": fields["csrf"], "do": {"selected"}, "uri": {"urn:nbn:fi:a"}}).Header().Get("Location")
		b.open(selected, url.Values{"csrf": fields["csrf"], "task": {"tag"}, "tag": {"x"}})
		ids := regexp.MustCompile(`\b(found|several|mint|import|jobs|clash|changes|statistics|prefixes|suggest|names)\.[a-z]+_?[a-z]*\b`)
		for lang, word := range map[string]string{
			"en": "Names", "de": "Namen", "fr": "noms", "es": "nombres",
			"zh": "名称",
		} {
			for _, path := range []string{
				"/registry/names", "/registry/mint", "/registry/import", at, "/registry/jobs", job, job + "/conflicts",
				selected, "/registry/changes", "/registry/changes/1", "/registry/prefixes", "/registry/statistics",
			} {
				w := b.open(path+"?lang="+lang, nil)
				text := textOf(w)
				if w.Code != 200 || strings.Contains(text, "This page failed") || ids.MatchString(text) {
					t.Errorf("%s in %s: %d %q %s", path, lang, w.Code, ids.FindString(text), text)
				}
				if path == "/registry/names" && !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
					t.Errorf("%s is not in %s: %s", path, lang, text)
				}
			}
		}
	})
}
