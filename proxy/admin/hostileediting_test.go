package admin_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// checkHarmless fails if a page or its fields contain markup, or line breaks, from user input.
func checkHarmless(t *testing.T, what string, p page) {
	t.Helper()
	// The scripts of the page itself are allowed.
	body := regexp.MustCompile(`<script src="/[a-z/.]+" defer></script>`).ReplaceAllString(p.Body.String(), "")
	for _, bad := range []string{
		"<script", "<img", "ZgotmplZ", "This page failed", `"><`, "onload=",
		"href=\"javascript",
	} {
		at := strings.Index(body, bad)
		if bad == `"><` {
			at = strings.Index(body, `evil"><`)
		}
		if at >= 0 {
			t.Errorf("%s has %s: %s", what, bad, body[max(at-100, 0):min(at+100, len(body))])
		}
	}
	if p.Code >= 500 {
		t.Errorf("%s: %d %s", what, p.Code, p.text())
	}
	for name, lines := range p.Header() {
		if strings.ContainsAny(strings.Join(lines, ""), "\r\n") || name == "X-Evil" {
			t.Errorf("%s has the field %s: %q", what, name, lines)
		}
	}
}

// User input of editors, and registered data, are text on all pages.
func TestHostileEditing(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	const evil = "evil\"><script>alert(1)</script><img src=x onerror=alert(1)>\r\nX-Evil: yes\r\n\r\n{{.}}'`\u202e\x00"
	s := newSite(t, nil)
	b := newBrowser(s, here)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	edit := b.get("/registry/edit?uri=urn:nbn:fi:a")
	fields, action := edit.form(t)
	for name := range fields {
		if name == "csrf" {
			continue
		}
		for _, do := range []string{"preview", "save", "add", "back", "merge", evil} {
			form := make(url.Values)
			for field, values := range fields {
				form[field] = values
			}
			form.Set(name, evil)
			form.Set("do", do)
			checkHarmless(t, name+", "+do, page{b.open(action, form), action})
			form.Set("name", evil)
			checkHarmless(t, "a new name, "+name+", "+do, page{b.open("/registry/edit", form), action})
			checkHarmless(t, "withdraw, "+name+", "+do,
				page{b.open("/registry/withdraw?uri=urn:nbn:fi:a", form), action})
			checkHarmless(t, "revert, "+name+", "+do, page{b.open("/registry/changes/1", form), action})
		}
	}
	// Input that the API accepts.
	text := strings.ReplaceAll(evil, "\x00", "")
	quoted := fmt.Sprintf("%q", text)
	quoted = strings.NewReplacer("`", "`", `\u202e`, `\u202e`).Replace(quoted)
	s.ask("PUT "+of(names, "urn:nbn:fi:b"), `{"targets":[{"uri":"javascript:alert(1)"}]}`)
	r := s.ask("PUT "+of(names, "urn:nbn:fi:b"),
		`{"targets":[{"uri":"https://a.example/<","note":`+quoted+`,"rel":"https://rel.example/"}],"contact":`+quoted+
			`,"metadata":{"title":`+quoted+`,`+quoted+`:`+quoted+`,"tags":[`+quoted+`]},"note":`+quoted+`}`)
	if r.status == 201 {
		t.Errorf("a target with markup: %s", r.body)
	}
	s.put(t, "urn:nbn:fi:b",
		`{"targets":[{"uri":"https://a.example/%22","note":`+quoted+
			`,"title":"<script>"},{"uri":"gopher://a.example/"}],"contact":`+quoted+`,"metadata":{"title":`+quoted+`,`+
			quoted+`:`+quoted+`,"tags":[`+quoted+`]},"note":`+quoted+`}`)
	s.ask("POST "+names+"/withdraw?uri=urn:nbn:fi:b",
		`{"reason":`+quoted+`,"successors":["https://a.example/"],"note":`+quoted+`}`)
	for _, target := range []string{
		"/registry/names", "/registry/name?uri=urn:nbn:fi:b", "/registry/edit?uri=urn:nbn:fi:b",
		"/registry/history?uri=urn:nbn:fi:b", "/registry/changes", "/registry/changes/2", "/registry/changes/3",
		"/registry/edit?uri=urn:nbn:fi:b&restore=1",
	} {
		p := b.get(target)
		if checkHarmless(t, target, p); p.Code != 200 {
			t.Errorf("%s: %d %s", target, p.Code, p.text())
		}
	}
	checkHarmless(t, "the preview", b.press(t, b.get("/registry/edit?uri=urn:nbn:fi:b"), "preview", "status=active"))
	checkHarmless(t, "taking back", b.press(t, b.get("/registry/changes/3"), "preview", "note="+text))
	for _, path := range []string{
		"/registry/names", "/registry/name", "/registry/edit", "/registry/history",
		"/registry/withdraw", "/registry/changes", "/registry/changes/1",
	} {
		for _, parameter := range []string{
			"uri", "kind", "name", "restore", "cursor", "done", "prefix", "text",
			"status", "target", "tag", "metadata", "by", "since", "until",
		} {
			for _, uri := range []string{"", "&uri=urn:nbn:fi:a"} {
				target := path + "?" + parameter + "=" + url.QueryEscape(evil) + uri
				checkHarmless(t, path+" "+parameter, b.get(target))
			}
		}
	}
	checkHarmless(t, "an ID", b.get("/registry/changes/"+url.PathEscape("1\r\nX-Evil: <script>")))
}

// The largest possible name can be edited, and its form stays within the size limit.
func TestLargestNameOfEditors(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := newSite(t, nil)
	b := newBrowser(s, here)
	var targets []string
	for i := range 100 {
		targets = append(targets, fmt.Sprintf(`{"uri":"https://a.example/%03d/%s"}`, i, strings.Repeat("a", 8192-27)))
	}
	name := "urn:nbn:fi:" + strings.Repeat("n", 1200)
	s.put(t, name, `{"targets":[`+strings.Join(targets, ",")+`],"contact":"`+strings.Repeat("c", 4000)+`"}`)
	edit := b.get("/registry/edit?uri=" + name)
	edit.expect(t, 200, "Target 100", "Target 102")
	if fields, _ := edit.form(t); len(fields) < 1000 {
		t.Errorf("%d fields", len(fields))
	}
	full := b.press(t, edit, "preview", "t100-uri=https://b.example/")
	full.expect(t, 422, "at most 100 targets")
	seen := b.press(t, edit, "preview", "t99-uri=https://b.example/")
	b.follow(t, b.press(t, seen, "save")).expect(t, 200, "https://b.example/")
	if n := s.ask("GET "+of(names, name), "").name(t); n.Version != 2 || len(n.Targets) != 100 {
		t.Errorf("version %d, %d targets", n.Version, len(n.Targets))
	}
	for _, target := range []string{
		"/registry/history?uri=" + name, "/registry/changes/2", "/registry/names",
		"/registry/changes",
	} {
		const most = 30_000
		if p := b.get(target); p.Code != 200 || p.Body.Len() > most {
			t.Errorf("%.60s: %d, %d bytes", target, p.Code, p.Body.Len())
		}
	}
	b.get("/registry/history?uri="+name).expect(t, 200, "and 90 more", "aaa…")
	if p := b.press(t, b.get("/registry/changes/1"), "preview", "note=n"); p.Code != 200 || p.Body.Len() > 30_000 {
		t.Errorf("what taking it back would do: %d, %d bytes", p.Code, p.Body.Len())
	}
	long := b.press(t, b.get("/registry/edit"), "preview", "name=urn:nbn:fi:"+strings.Repeat("x", 2000),
		"t0-uri=https://a.example/")
	long.expect(t, 422, "1280 bytes")
	b.press(t, b.get("/registry/edit"), "preview", "name=urn:nbn:fi:x",
		"t0-uri=https://a.example/"+strings.Repeat("x", 9000)).expect(t, 422, "is too long")
	if p := b.press(t, b.get("/registry/edit"), "preview", "name=urn:nbn:fi:x",
		"note="+strings.Repeat("x", 3<<20)); p.Code != 413 {
		t.Errorf("a form of 3 MiB: %d", p.Code)
	}
}

// endless is a store with an endless list of names.
type endless struct{ registry.Store }

func (s endless) Read(ctx context.Context, f func(registry.Tx) error) error {
	return s.Store.Read(ctx, func(tx registry.Tx) error { return f(endlessTx{tx}) })
}

type endlessTx struct{ registry.Tx }

func (endlessTx) List(_ registry.Kind, _, _ string, limit int) ([]registry.Entry, error) {
	return slices.Repeat([]registry.Entry{{Key: registry.Name("urn:nbn:fi:m"), Version: 1}}, limit), nil
}

// A search that reaches its time limit says so, and continues on the next page.
func TestLateSearchOfEditors(t *testing.T) {
	now := time.Now()
	s := newSiteOf(t, func(c *service.Config) {
		c.Registry = registryOn(c, endless{c.Registry.Store()}, func() time.Time {
			now = now.Add(time.Minute)
			return now
		})
	}, nil)
	p := newBrowser(s, here).get("/registry/names?text=a")
	p.expect(t, 200, "None yet.", "The next page continues it.")
	if !strings.Contains(p.Body.String(), "cursor=dXJuOm5ibjpmaTpt&amp;text=a") {
		t.Errorf("it does not go on: %s", p.Body)
	}
}

// A text browser shows all content of a page.
func TestEditorsInLynx(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	lynx := testserver.Need(t, "lynx")
	for name, p := range editorsPages(t) {
		file := filepath.Join(t.TempDir(), "page.html")
		if err := os.WriteFile(file, p.Body.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := exec.CommandContext(t.Context(), lynx, "-dump", "-nolist", "-force_html", "-display_charset=utf-8",
			file).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			"names":    {"urn:nbn:fi:lib-000", "Search", "New name"},
			"edit":     {"Target 1", "Show what would change", "Title, relation, priority", "More targets"},
			"preview":  {"https://anna.example/", "(save) Save", "Back to the form"},
			"conflict": {"https://ben.example/", "Continue with my change"},
			"history":  {"Version 1", "Restore this version"}, "changeset": {"moved by the board of May", "Preview"},
			"edit-wrong": {"A priority is a number"},
		}[name]
		for _, words := range want {
			if !strings.Contains(string(text), words) {
				t.Errorf("%s in lynx does not have %q: %s", name, words, text)
			}
		}
		if len(text) < 100 {
			t.Errorf("%s: %s", name, text)
		}
	}
}
