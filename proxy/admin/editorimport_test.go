package admin_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/token"
)

// newIdleJobSite returns a site with jobs that are not run.
func newIdleJobSite(t *testing.T, change func(*admin.Config)) (s *site, all *jobs.Jobs) {
	t.Helper()
	s = newSiteOf(t, func(c *service.Config) {
		all = jobs.New(jobs.Config{
			Registry: c.Registry, Directory: filepath.Join(t.TempDir(), "jobs"),
			MaxBody: 1 << 30, Log: slog.New(slog.DiscardHandler),
		})
		c.Jobs = all
	}, change)
	return s, all
}

// newJobSite returns a site that runs jobs until the test ends.
func newJobSite(t *testing.T) *site {
	t.Helper()
	s, all := newIdleJobSite(t, locked)
	s.run(t, all)
	return s
}

func (s *site) run(t *testing.T, all *jobs.Jobs) {
	ctx := t.Context()
	var running sync.WaitGroup
	running.Go(func() { all.Run(ctx) })
	t.Cleanup(running.Wait)
}

// person returns a browser that has logged in with a new token.
func (s *site) person(t *testing.T, made token.Token) *browser {
	t.Helper()
	_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin}, made)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(s, here)
	if code, _ := b.logIn(t, secret, "/registry/names"); code != 303 {
		t.Fatalf("%s cannot log in: %d", made.Name, code)
	}
	return b
}

// has registers names, given as pairs of a name and its target.
func (s *site) has(t *testing.T, all ...string) {
	t.Helper()
	for i := 0; i < len(all); i += 2 {
		r := registry.Record{Targets: []registry.Target{{URI: all[i+1]}}}
		edit := registry.Edit{Key: registry.Name(all[i]), IfVersion: registry.AnyVersion, Change: registry.Put(r)}
		if _, err := s.registry.Apply(t.Context(), registry.Actor{Name: "root", Role: registry.Admin},
			edit); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *site) editor(t *testing.T) *browser {
	t.Helper()
	return s.person(t, token.Token{Name: "anna", Role: registry.Writer})
}

// upload uploads a file with the form of a page; fields are the other fields of the form.
func (b *browser) upload(target, name string, content []byte, fields url.Values) *httptest.ResponseRecorder {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field, values := range fields {
		for _, value := range values {
			_ = w.WriteField(field, value)
		}
	}
	part, _ := w.CreateFormFile("file", name)
	_, _ = part.Write(content)
	_ = w.Close()
	r := httptest.NewRequest(http.MethodPost, target, &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Host, r.RemoteAddr = "127.0.0.1:8142", b.peer
	r.Header.Set("Accept", "text/html")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	reply := httptest.NewRecorder()
	b.ServeHTTP(reply, r)
	return reply
}

// send uploads a file for import, and returns the target of the redirect.
func (b *browser) send(t *testing.T, name, content string) string {
	t.Helper()
	w := b.upload("/registry/import", name, []byte(content),
		url.Values{"csrf": {csrf(t, b.open("/registry/import", nil))}})
	if w.Code != 303 {
		t.Fatalf("%s: %d %s", name, w.Code, textOf(w))
	}
	return w.Header().Get("Location")
}

// form returns the fields of the forms of a page, as a browser would submit them.
func form(t *testing.T, page *httptest.ResponseRecorder) url.Values {
	t.Helper()
	fields := url.Values{"csrf": {csrf(t, page)}}
	for name, values := range testserver.ParseHTML(page.Body.String()).Fields() {
		if column, ok := strings.CutPrefix(name, "c"); ok && strings.Trim(column, "0123456789") == "" {
			fields[name] = values
		}
	}
	return fields
}

// textOf returns the text of a page.
func textOf(w *httptest.ResponseRecorder) string {
	document := testserver.ParseHTML(w.Body.String())
	if main := document.First("main"); main.Exists() {
		return main.Text()
	}
	return document.Text()
}

func wantText(t *testing.T, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	reported := textOf(w)
	for _, text := range texts {
		if w.Code != status || !strings.Contains(reported, text) {
			t.Errorf("%d, want %d with %q: %.3000s", w.Code, status, text, reported)
		}
	}
}

// The steps of an import: upload a file, map its columns, check the preview, import.
func TestImportByForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		s.has(t, "urn:nbn:fi:b", "https://old.example/b")
		b := s.editor(t)
		at := b.send(t, "books.csv",
			"\ufeffKennung;Jahr;\"Wo es; "+
				"ist\"\r\nurn:nbn:fi:a;1999;https://a.example/1\r\nurn:nbn:fi:b;2000;https://a.example/2\r\nwrong;;\r\n")
		page := b.open(at, nil)
		wantText(t, page, 200, "books.csv", "Wo es; ist", "urn:nbn:fi:a", "1999")
		fields := form(t, page)
		if fields.Get("c0") != "name" || fields.Get("c1") != "metadata.year" || fields.Get("c2") != "target" {
			t.Errorf("guessed is %v", fields)
		}
		fields.Set("do", "check")
		fields.Set("c1", "metadata.Jahr")
		fields.Set("note", "board of May")
		w := b.open(at, fields)
		dry := w.Header().Get("Location")
		if w.Code != 303 || !strings.HasPrefix(dry, "/registry/jobs/") {
			t.Fatalf("%d %s %s", w.Code, dry, textOf(w))
		}
		time.Sleep(time.Minute)
		page = b.open(dry, nil)
		wantText(t, page, 200, "Dry run of an import", "new 1", "rejected lines, of 3 2", "1 new", "urn:nbn:fi:a",
			"https://a.example/1", "conflict", "Import now", "board of May")
		if r := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", "Authorization: Bearer "+adminToken); r.status != 404 {
			t.Errorf("a dry run has registered a name: %d", r.status)
		}
		for _, file := range []string{"rejected?format=csv", "differences?format=csv", "differences?format=text"} {
			if w := b.open(strings.Replace(dry, "/registry/", "/api/v1/", 1)+"/"+file, nil); w.Code != 200 ||
				!strings.Contains(w.Body.String(), "urn:nbn:fi:") {
				t.Errorf("%s: %d %s", file, w.Code, w.Body)
			}
		}
		fields.Set("overwrite", "1")
		seen := strings.TrimPrefix(dry, "/registry/jobs/")
		if dry = b.open(at, fields).Header().Get("Location"); !strings.HasPrefix(dry, "/registry/jobs/") {
			t.Fatal(dry)
		}
		time.Sleep(time.Minute)
		wantText(t, b.open(dry, nil), 200, "changed 1", "Overwrites yes")
		stale := url.Values{"csrf": {csrf(t, page)}, "do": {"import"}, "checked": {seen}}
		wantText(t, b.open(at, stale), 422, "Preview the changes first")
		confirmed := url.Values{
			"csrf": {csrf(t, page)}, "do": {"import"},
			"checked": {strings.TrimPrefix(dry, "/registry/jobs/")},
		}
		w = b.open(at, confirmed)
		done := w.Header().Get("Location")
		if w.Code != 303 || !strings.HasPrefix(done, "/registry/jobs/") || done == dry {
			t.Fatalf("%d %s %s", w.Code, done, textOf(w))
		}
		// A double click, whose second reply the browser shows, leads to the job.
		if again := b.open(at, confirmed); again.Code != 410 || !strings.Contains(again.Body.String(), `href="`+done) {
			t.Errorf("a double click: %d %s", again.Code, textOf(again))
		}
		time.Sleep(time.Minute)
		wantText(t, b.open(done, nil), 200, "Import of names", "new 1", "changed 1", "rejected lines, of 3 1",
			"Overwrites yes")
		n := s.ask("GET "+of(names, "urn:nbn:fi:b"), "", "Authorization: Bearer "+adminToken).name(t)
		if n.Targets[0].URI != "https://a.example/2" || n.By != "anna" || n.Note != "board of May" ||
			!strings.Contains(n.Metadata, `"Jahr":"2000"`) {
			t.Errorf("%+v", n)
		}
		wantText(t, b.open("/registry/jobs", nil), 200, "import, csv, dry run", "board of May")
		wantText(t, b.open(dry, nil), 200, "is no longer stored")
		wantText(t, b.open(at, nil), 410, "is no longer stored")
	})
}

// The conflicts of an import are shown one by one, with all versions, and each can be overwritten.
func TestConflictsOfImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		s.has(t, "urn:nbn:fi:a", "https://old.example/a")
		s.has(t, "urn:nbn:fi:a", "https://theirs.example/a", "urn:nbn:fi:b", "https://theirs.example/b")
		b := s.editor(t)
		text := "name,if_version,target\nurn:nbn:fi:a,1,https://mine.example/a\nurn:nbn:fi:b,,https://mine.example/b\nurn:nbn:fi:c,,https://mine.example/c\n"
		for i := range 11 {
			s.has(t, fmt.Sprintf("urn:nbn:fi:x%02d", i), "https://theirs.example/")
			text += fmt.Sprintf("urn:nbn:fi:x%02d,,https://mine.example/\n", i)
		}
		at := b.send(t, "a.csv", text)
		fields := form(t, b.open(at, nil))
		fields.Set("do", "check")
		dry := b.open(at, fields).Header().Get("Location")
		time.Sleep(time.Minute)
		wantText(t, b.open(dry, nil), 200, "keep or overwrite", "rejected lines, of 14 13")
		conflicts := dry + "/conflicts"
		page := b.open(conflicts, nil)
		wantText(t, page, 200, "urn:nbn:fi:a", "line 2", "version 1", "https://old.example/a",
			"https://theirs.example/a", "https://mine.example/a", "Overwrite it with your line")
		if n := strings.Count(page.Body.String(), `value="overwrite"`); n != 10 {
			t.Errorf("%d conflicts are shown", n)
		}
		wantText(t, b.open(conflicts+"?page=2", nil), 200, "urn:nbn:fi:x10")
		wantText(t, b.open(conflicts+"?page=3", nil), 200, "There are no conflicts here")
		field := csrf(t, page)
		wantText(t, b.open(conflicts, url.Values{"csrf": {field}, "line2": {"keep"}}), 422, "all are kept")
		w := b.open(conflicts, url.Values{"csrf": {field}, "line2": {"overwrite"}, "line3": {"keep"}})
		if w.Code != 303 {
			t.Fatalf("%d %s", w.Code, textOf(w))
		}
		wantText(t, b.open(w.Header().Get("Location"), nil), 200, "were overwritten",
			"There is nothing to choose anymore")
		for name, want := range map[string]string{
			"urn:nbn:fi:a": "https://mine.example/a",
			"urn:nbn:fi:b": "https://theirs.example/b",
		} {
			if n, err := s.registry.Get(t.Context(), registry.Name(name)); err != nil || n.Targets[0].URI != want {
				t.Errorf("%+v, %v, want %s", n, err, want)
			}
		}
		s.has(t, "urn:nbn:fi:b", "https://again.example/b")
		wantText(t, b.open(conflicts, url.Values{"csrf": {field}, "line3": {"overwrite"}}), 412,
			"Nothing was overwritten")
		if w := s.person(t, token.Token{Name: "bo", Role: registry.Writer}).open(conflicts, nil); w.Code != 404 {
			t.Errorf("the conflicts of another one: %d", w.Code)
		}
	})
}

// Invalid files are rejected with the reason, before they are stored.
func TestFilesThatAreRefused(t *testing.T) {
	s := newJobSite(t)
	b := s.editor(t)
	for _, tt := range []struct {
		name, file, content string
		status              int
		want                string
	}{
		{"nothing", "a.csv", "", 422, "The file is empty."},
		{"nothing but spaces", "a.ndjson", " \n", 422, "The file is empty"},
		{
			"Windows-1252", "a.csv", "name,note\nurn:nbn:fi:a,p\xe4\n", 422,
			"Line 2 has bytes that are no text in this encoding",
		},
		{
			"Windows-1252 in JSON", "a.ndjson", "{\"name\":\"urn:nbn:fi:\xe4\"}\n", 422,
			"Line 1 has bytes that are no text in this encoding",
		},
		{"a workbook", "a.xlsx", "PK\x03\x04", 422, "a workbook"},
		{"compressed", "a.csv.gz", "\x1f\x8b\x08", 422, "compressed"},
		{"16 MiB of commas", "a.csv", "name,target\n" + strings.Repeat(",", 16<<20-20), 303, ""},
		{"a name of 4 MiB", "a.csv", strings.Repeat(",", 4<<20), 422, "more than 1048576 bytes"},
		{"a quotation mark without an end", "a.csv", "\"name,target\nurn:a:b,c\n", 422, "not closed"},
		{"too many columns", "a.csv", strings.Repeat("a,", 500), 422, "501 columns"},
		{"17 MiB", "a.csv", "name,target\n" + strings.Repeat("x", 17<<20), 413, "at most 16 MiB"},
		{"30 MiB", "a.csv", "name,target\n" + strings.Repeat("x", 30<<20), 413, "is too large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := b.upload("/registry/import", tt.file, []byte(tt.content),
				url.Values{"csrf": {csrf(t, b.open("/registry/import", nil))}})
			wantText(t, w, tt.status, tt.want)
		})
	}
	field := csrf(t, b.open("/registry/import", nil))
	for encoding, text := range map[string]string{
		"windows-1252": "name,note\nurn:nbn:fi:a,p\xe4\n",
		"":             "\xff\xfen\x00a\x00m\x00e\x00\n\x00\xe4\x00",
	} {
		w := b.upload("/registry/import", "a.csv", []byte(text), url.Values{"csrf": {field}, "encoding": {encoding}})
		wantText(t, b.open(w.Header().Get("Location"), nil), 200, "\u00e4")
	}
	wantText(t, b.open("/registry/import", url.Values{"csrf": {field}, "text": {"a,b\n"}, "encoding": {"x"}}), 422,
		"not a supported encoding")
	wantText(t, b.open("/registry/import", url.Values{"csrf": {field}}), 422, "Choose a file, or paste lines")
	wantText(t, b.open("/registry/import", url.Values{"csrf": {field}, "text": {"a,b\n"}, "format": {"purl"}}), 422,
		"by the command")
	wantText(t, b.upload("/registry/import", "a.csv", []byte("name\n"),
		url.Values{"csrf": {field}, "text": {"name\n"}}), 422, "send only one of them")
	for _, w := range []*httptest.ResponseRecorder{
		b.upload("/registry/import", "a.csv", []byte("name\n"), url.Values{}),
		b.open("/registry/import", url.Values{"text": {"name\n"}}),
		b.open("/registry/tokens", url.Values{"csrf": {"x"}, "name": {"x"}, "role": {"reader"}}),
	} {
		if w.Code != 403 {
			t.Errorf("a form without a session is accepted: %d", w.Code)
		}
	}
}

func TestMapping(t *testing.T) {
	s := newJobSite(t)
	b := s.editor(t)
	for _, tt := range []struct {
		name, file, content string
		want                map[string]string
	}{
		{
			"ours", "a.csv", "URN,target,type,target2,type_2,if-version\n",
			map[string]string{
				"c0": "name", "c1": "target", "c2": "type", "c3": "target2", "c4": "type2",
				"c5": "if_version",
			},
		},
		{
			"words", "a.csv", "PID,Titel,Sprache,E-Mail,Year\n",
			map[string]string{
				"c0": "name", "c1": "metadata.title", "c2": "language", "c3": "contact",
				"c4": "metadata.year",
			},
		},
		{"the title of a target", "a.csv", "name,target,title\n", map[string]string{"c1": "target", "c2": "title"}},
		{
			"the title of the resource", "a.csv", "DOI,Title,URL\n",
			map[string]string{"c0": "name", "c1": "metadata.title", "c2": "target"},
		},
		{
			"both titles", "a.csv", "name,title,link text,metadata.title\n",
			map[string]string{"c1": "title", "c2": "", "c3": "metadata.title"},
		},
		{
			"values", "a.tsv", "x\ty\tz\nhttps://a.example/\turn:nbn:fi:a\thttps://b.example/\n",
			map[string]string{"c0": "target", "c1": "name", "c2": ""},
		},
		{"twice", "a.csv", "link,url,name\n", map[string]string{"c0": "", "c1": "target", "c2": "name"}},
		{"the fifth target", "a.csv", "name,target5\n", map[string]string{"c0": "name", "c1": "target5"}},
		{
			"members of the metadata", "a.csv", "name,Metadata.Year,year\n",
			map[string]string{"c0": "name", "c1": "metadata.Year", "c2": "metadata.year"},
		},
		{
			"German", "a.csv", "Kennung,Ziel,Verfasser,Erscheinungsjahr,Schlagwörter,Zustand,Bemerkung\n",
			map[string]string{
				"c0": "name", "c1": "target", "c2": "metadata.creator", "c3": "metadata.year", "c4": "metadata.tags",
				"c5": "status", "c6": "note",
			},
		},
		{"French", "a.csv", "Identifiant;Cible;Titre;Auteur;Année;Mots-clés;État\n", map[string]string{
			"c0": "name", "c1": "target", "c2": "metadata.title", "c3": "metadata.creator", "c4": "metadata.year",
			"c5": "metadata.tags", "c6": "status",
		}},
		{"Spanish", "a.csv", "Identificador;Destino;Título;Autor;Año;Palabras clave;Estado\n", map[string]string{
			"c0": "name", "c1": "target", "c2": "metadata.title", "c3": "metadata.creator", "c4": "metadata.year",
			"c5": "metadata.tags", "c6": "status",
		}},
		{"Chinese", "a.csv", "标识符,网址,题名,作者,年份,关键词,状态\n", map[string]string{
			"c0": "name", "c1": "target", "c2": "metadata.title", "c3": "metadata.creator", "c4": "metadata.year",
			"c5": "metadata.tags", "c6": "status",
		}},
		{
			"hostile", "a.csv", "<script>alert(1)</script>,x\"><img src=x>\nurn:nbn:fi:a,</table>\n",
			map[string]string{"c0": "name", "c1": ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := b.open(b.send(t, tt.file, tt.content), nil)
			fields := form(t, page)
			for field, want := range tt.want {
				if fields.Get(field) != want {
					t.Errorf("%s is %q, want %q", field, fields.Get(field), want)
				}
			}
			if body := page.Body.String(); strings.Contains(body, "<script>alert") ||
				strings.Contains(body, "<img src=x") {
				t.Errorf("%s", body)
			}
		})
	}
	wide := b.open(b.send(t, "a.csv", "name,"+strings.Repeat("x,", 99)+"\n"), nil)
	if n := strings.Count(wide.Body.String(), "<select"); n != 101 || wide.Body.Len() > 200<<10 {
		t.Errorf("%d columns, %d bytes", n, wide.Body.Len())
	}
	at := b.send(t, "<b>a</b>.csv", "a,b\n1,2\n")
	page := b.open(at, nil)
	if strings.Contains(page.Body.String(), "<b>a</b>") {
		t.Error("the name of a file is HTML")
	}
	for _, tt := range []struct{ c0, c1, want string }{
		{"", "", "No column is the name"},
		{"target", "", "No column is the name"},
		{"name", "name", "are both the name"},
		{"name", "password", "There is no column"},
		{"name", "URL", "There is no column"},
	} {
		wantText(t, b.open(at, url.Values{"csrf": {csrf(t, page)}, "do": {"check"}, "c0": {tt.c0}, "c1": {tt.c1}}),
			422, tt.want)
	}
	wantText(t,
		b.open(at, url.Values{
			"csrf": {csrf(t, page)}, "do": {"check"}, "c0": {"name"},
			"note": {strings.Repeat("x", registry.MaxText+1)},
		}), 422, "note")
	wantText(t, b.open(at, url.Values{"csrf": {csrf(t, page)}, "do": {"import"}}), 422, "Preview the changes first")
}

// Two concurrent actors each see only their own files. A second upload does not replace the first, which a
// new session finds.
func TestDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin},
			token.Token{Name: "anna", Role: registry.Writer})
		if err != nil {
			t.Fatal(err)
		}
		anna, again, bo := newBrowser(s, here), newBrowser(s, here),
			s.person(t, token.Token{Name: "bo", Role: registry.Writer})
		anna.logIn(t, secret, "/")
		again.logIn(t, secret, "/")
		ofAnna, ofBo := anna.send(t, "anna.csv", "name,target\n"), bo.send(t, "bo.csv", "name,target\n")
		wantText(t, anna.open(ofAnna, nil), 200, "anna.csv")
		wantText(t, bo.open(ofBo, nil), 200, "bo.csv")
		wantText(t, bo.open(ofAnna, nil), 410, "is no longer stored")
		wantText(t, bo.open(ofAnna, url.Values{"csrf": {csrf(t, bo.open(ofBo, nil))}, "do": {"import"}}), 410,
			"is no longer stored")
		next := again.send(t, "next.csv", "name,target\n")
		wantText(t, anna.open("/registry/import", nil), 200, "not imported yet", "anna.csv", "next.csv")
		time.Sleep(6 * 24 * time.Hour)
		anna, again = newBrowser(s, here), newBrowser(s, here)
		anna.logIn(t, secret, "/")
		wantText(t, anna.open(ofAnna, nil), 200, "anna.csv")
		time.Sleep(2 * 24 * time.Hour)
		again.logIn(t, secret, "/")
		wantText(t, again.open(ofAnna, nil), 200, "anna.csv")
		wantText(t, again.open(next, nil), 410, "is no longer stored")
		w := again.open(ofAnna, url.Values{"csrf": {csrf(t, again.open(ofAnna, nil))}, "do": {"discard"}})
		if w.Code != 303 {
			t.Errorf("%d", w.Code)
		}
		wantText(t, again.open(w.Header().Get("Location"), nil), 200, "was discarded")
		wantText(t, again.open(ofAnna, nil), 410, "is no longer stored")
	})
}

// NDJSON is imported without mapping, and lines can be pasted without a file.
func TestPastedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		b := s.editor(t)
		for _, tt := range []struct{ text, data, want string }{
			{`{"name":"urn:nbn:fi:a","targets":["https://a.example/1"]}` + "\r\n", "", "new 1"},
			{"urn:nbn:fi:b\thttps://a.example/2\r\nurn:nbn:fi:c\thttps://a.example/3\r\n", "1", "new 2"},
		} {
			w := b.open("/registry/import",
				url.Values{"csrf": {csrf(t, b.open("/registry/import", nil))}, "text": {tt.text}})
			at := w.Header().Get("Location")
			fields := form(t, b.open(at, nil))
			fields.Set("do", "check")
			if tt.data != "" {
				fields.Set("data", tt.data)
				fields.Set("c0", "name")
				fields.Set("c1", "target")
			}
			dry := b.open(at, fields).Header().Get("Location")
			time.Sleep(time.Minute)
			wantText(t, b.open(dry, nil), 200, tt.want, "rejected lines, of")
		}
	})
}
