//go:build e2e

package browser

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// editorsSite is urnd with a registry, on ports that it keeps across a restart.
type editorsSite struct {
	*urndtest.Daemon
	config config.Config
	t      *testing.T
}

func startEditorsSite(t *testing.T) *editorsSite {
	t.Helper()
	c := urndtest.Default("127.0.0.1:1")
	c.DDDS.Enabled = false
	c.Listen.Service, c.Listen.Admin = []string{urndtest.FreeAddress(t)}, urndtest.FreeAddress(t)
	c.Registry.Store, c.Registry.Owned = "sqlite:"+filepath.Join(t.TempDir(), "registry.db"), []string{"urn:example:"}
	// A token is required for administration.
	c.Cache.Directory, c.Access.AdminToken = t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(c.Access.AdminToken, []byte(strings.Repeat("0123456789", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	return &editorsSite{Daemon: urndtest.StartConfig(t, c), config: c, t: t}
}

// token returns a new token of an editor.
func (s *editorsSite) token(name string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), urndtest.Binary(s.t), "registry", "token", "create", "--store",
		s.config.Registry.Store,
		"--role", "writer", "--name", name).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// mishaps are events that affect urnd or a session between two steps of a form.
func (s *editorsSite) mishaps() map[string]func(p *editor) {
	return map[string]func(p *editor){
		"nothing":   func(*editor) {},
		"reload":    func(*editor) { s.Reload(s.t, func(*config.Config) {}) },
		"restart":   func(*editor) { s.Stop(); s.Daemon = urndtest.StartConfig(s.t, s.config) },
		"crash":     func(*editor) { s.Kill(s.t); s.Daemon = urndtest.StartConfig(s.t, s.config) },
		"logout":    func(p *editor) { p.logOutElsewhere() },
		"no cookie": func(p *editor) { p.forgetCookies() },
	}
}

// editor is a user with a token and a browser.
type editor struct {
	*testserver.Chromium
	t     *testing.T
	site  *editorsSite
	token string
}

func (s *editorsSite) editor(t *testing.T, name string) *editor {
	t.Helper()
	return &editor{Chromium: testserver.StartChromium(t), t: t, site: s, token: s.token(name)}
}

// open shows a page of the admin interface, after logging in if necessary.
func (p *editor) open(target string) {
	p.t.Helper()
	p.Show(p.t, p.site.Admin+target, testserver.Screens()[0])
	p.goOn()
}

// quoted returns a text as a JavaScript string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// fill enters text into fields by name.
func (p *editor) fill(fields ...[2]string) {
	p.t.Helper()
	for _, f := range fields {
		if !p.has(`main [name="` + f[0] + `"]`) {
			p.t.Fatalf("no field %s in %.2000s", f[0], p.text())
		}
		p.Run(p.t, `document.querySelector(`+quoted(`main [name="`+f[0]+`"]`)+`).value = `+quoted(f[1]))
	}
}

// press presses a button and continues to the next page. If the form is returned, it submits it again, by its
// preview if necessary.
func (p *editor) press(button string) {
	p.t.Helper()
	p.lead(button)
	if !p.goOn() {
		return
	}
	if !p.has(button) && p.has(toPreview) {
		p.lead(toPreview)
	}
	if p.has(button) {
		p.lead(button)
	}
}

// lead presses a button and waits for the next page.
func (p *editor) lead(button string) {
	p.t.Helper()
	if !p.has(button) {
		p.t.Fatalf("no button %s in %.2000s", button, p.text())
	}
	p.Run(p.t, `window.isOld = true`)
	p.Click(p.t, button)
	testserver.Wait(p.t, "the button "+button+" leads on", func() bool {
		var isNew bool
		p.Evaluate(p.t, `!window.isOld && document.readyState === "complete"`, &isNew)
		return isNew
	})
}

// goOn logs in if required, resubmits a form that the page reports as not processed, and reports whether it had
// to.
func (p *editor) goOn() (had bool) {
	p.t.Helper()
	for range 3 {
		switch {
		case p.has(`main input[name="token"]`):
			p.fill([2]string{"token", p.token})
			p.lead(`main form:has([name="token"]) button`)
		case p.isAgain():
			p.lead(`main form button`)
		default:
			return had || p.has(`main [role="alert"]`)
		}
		had = true
	}
	p.t.Fatalf("the page to log in comes again and again: %s", p.text())
	return had
}

// isAgain reports whether the page offers to resubmit a form.
func (p *editor) isAgain() (is bool) {
	p.t.Helper()
	p.Evaluate(p.t, `document.querySelector("h1").innerText === "Send again"`, &is)
	return is
}

func (p *editor) has(selector string) (is bool) {
	p.t.Helper()
	p.Evaluate(p.t, `!!document.querySelector(`+quoted(selector)+`)`, &is)
	return is
}

// text returns the text of the page including fields.
func (p *editor) text() (text string) {
	p.t.Helper()
	p.Evaluate(p.t,
		`document.querySelector("main").innerText + " " + [...document.querySelectorAll("main input, main textarea")].map(e => e.value).join(" ")`, &text)
	return text
}

// isAt fails if the page has another path.
func (p *editor) isAt(path string) {
	p.t.Helper()
	var at string
	if p.Evaluate(p.t, `location.pathname`, &at); at != path {
		p.t.Fatalf("the page is %s, not %s: %.1000s", at, path, p.text())
	}
}

// sees fails if the page lacks a text.
func (p *editor) sees(step string, texts ...string) {
	p.t.Helper()
	page := p.text()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			p.t.Fatalf("%s: no %q in %.2000s", step, text, page)
		}
	}
}

// logOutElsewhere logs out like another tab of the browser.
func (p *editor) logOutElsewhere() {
	p.t.Helper()
	var form string
	p.Evaluate(p.t, `"" + new URLSearchParams(new FormData(document.querySelector("form[action$='/logout']")))`, &form)
	reply := urndtest.Send(p.t, "POST "+p.site.Admin+"/logout", form, "Cookie: "+p.Cookies(p.t),
		"Content-Type: application/x-www-form-urlencoded",
		"Origin: "+p.site.Admin)
	if reply.Status != http.StatusSeeOther {
		p.t.Fatalf("logging out: %d %s", reply.Status, reply.Body)
	}
}

// forgetCookies removes the cookies of the site.
func (p *editor) forgetCookies() {
	p.t.Helper()
	p.ClearCookies(p.t)
}

// TestTwoEditors: two users edit concurrently, and between the steps of each form urnd is reloaded, restarted
// or killed, or a session ends. Their input is not lost, and neither overwrites a change of the other.
func TestTwoEditors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Chromium and urnd many times")
	}
	for misfortune := range (&editorsSite{}).mishaps() {
		t.Run(misfortune, func(t *testing.T) {
			t.Parallel()
			site := startEditorsSite(t)
			happens := site.mishaps()[misfortune]
			anna, ben := site.editor(t, "anna"), site.editor(t, "ben")
			anna.makes("urn:example:a", happens)
			edited(anna, ben, happens)
			anna.withdraws("urn:example:b", happens)
			anna.imports(happens)
		})
	}
}

// Buttons of the forms.
const (
	toPreview = `main button[name="do"][value="preview"]`
	toSave    = `main button[name="do"][value="save"]`
	toMerge   = `main button[name="do"][value="merge"]`
)

// makes registers a new name.
func (p *editor) makes(name string, happens func(*editor)) {
	p.t.Helper()
	p.open("/registry/edit")
	p.fill([2]string{"name", name}, [2]string{"t0-uri", "https://books.example/first"}, [2]string{"title", "Kalevala"},
		[2]string{"note", "the first"})
	happens(p)
	p.press(toPreview)
	p.sees("the preview of a new name", name, "https://books.example/first", "Kalevala")
	happens(p)
	p.press(toSave)
	p.isAt("/registry/name")
	p.sees("the new name", name, "https://books.example/first", "Kalevala")
}

// edited opens a name in both browsers at the same time.
func edited(anna, ben *editor, happens func(*editor)) {
	anna.t.Helper()
	anna.open("/registry/edit?uri=urn:example:a")
	ben.open("/registry/edit?uri=urn:example:a")
	anna.fill([2]string{"title", "Kalevala, second edition"})
	ben.fill([2]string{"t0-uri", "https://books.example/second"})
	happens(anna)
	anna.press(toPreview)
	anna.press(toSave)
	happens(ben)
	ben.press(toPreview)
	ben.sees("what both have changed", "Kalevala, second edition", "https://books.example/second", "anna")
	happens(ben)
	ben.press(toMerge)
	ben.sees("the form of both", "Kalevala, second edition", "https://books.example/second")
	happens(ben)
	ben.press(toPreview)
	ben.sees("the preview of both", "https://books.example/second")
	happens(ben)
	ben.press(toSave)
	ben.isAt("/registry/name")
	ben.sees("the name of both", "Kalevala, second edition", "https://books.example/second")
}

// withdraws registers a name and withdraws it.
func (p *editor) withdraws(name string, happens func(*editor)) {
	p.t.Helper()
	p.makes(name, func(*editor) {})
	p.open("/registry/withdraw?uri=" + name)
	p.fill([2]string{"reason", "It was a mistake."}, [2]string{"successors", "urn:example:a"})
	happens(p)
	p.press(toPreview)
	p.sees("the preview of the withdrawal", name, "It was a mistake.", "urn:example:a")
	happens(p)
	p.press(toSave)
	p.isAt("/registry/name")
	p.sees("what was withdrawn", name, "It was a mistake.")
}

// imports uploads lines, maps the columns, previews the changes, and imports them.
func (p *editor) imports(happens func(*editor)) {
	p.t.Helper()
	p.open("/registry/import")
	p.fill([2]string{"text", "name,target,title\nurn:example:c,https://books.example/c,Kanteletar\n"})
	happens(p)
	p.press(`main form[enctype="multipart/form-data"] button`)
	p.sees("the columns", "urn:example:c", "Kanteletar")
	happens(p)
	p.press(`main button[name="do"][value="check"]`)
	p.ends("the dry run")
	p.sees("what would change", "urn:example:c")
	happens(p)
	p.press(`main button[name="do"][value="import"]`)
	p.ends("the import")
	p.open("/registry/name?uri=urn:example:c")
	p.sees("the imported name", "Kanteletar", "https://books.example/c")
}

// ends waits for the end of the job on a page that follows it.
func (p *editor) ends(job string) {
	p.t.Helper()
	testserver.Wait(p.t, job+" ends", func() bool { return p.has(`#live[data-ended]`) })
}
