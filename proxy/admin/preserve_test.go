package admin_test

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// A form submitted after its session has expired is continued after a new login; no other client gets it.
func TestFormAfterItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, locked)
		_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin},
			token.Token{Name: "anna", Role: registry.Writer})
		if err != nil {
			t.Fatal(err)
		}
		b := newBrowser(s, here)
		b.logIn(t, secret, "/")
		form := b.get("/registry/edit")
		time.Sleep(session.MaxIdle + time.Minute)
		late := b.press(t, form, "preview", "name=urn:nbn:fi:a", "t0-uri=https://a.example/", "keywords=epic\r\nold",
			"note=the \"first\" <i>")
		late.expect(t, 403, "Your input is kept")
		if strings.Contains(late.Body.String(), "<i>") {
			t.Errorf("the input is markup: %s", late.Body)
		}
		if r := s.ask("GET "+of(names, "urn:nbn:fi:a"), "", "Authorization: Bearer "+adminToken); r.status != 404 {
			t.Fatalf("it is accepted without a session: %s", r.body)
		}
		wrong := b.press(t, late, "", "token=wrong")
		wrong.expect(t, 403, "token is not valid here")
		again := b.press(t, wrong, "", "token="+secret)
		again.expect(t, 200, "sent after your session had expired, and nothing has changed yet", "A new name", "anna")
		fields, action := again.form(t)
		if action != "/registry/edit" || fields.Get("keywords") != "epic\r\nold" ||
			fields.Get("t0-uri") != "https://a.example/" {
			t.Fatalf("%s, %v", action, fields)
		}
		seen := b.press(t, again, "preview")
		seen.expect(t, 200, "urn:nbn:fi:a", "https://a.example/", "epic", `Note: the "first" <i>`)
	})
}

// Only a form of a page of this server is preserved over a login, and only for a page.
func TestFormsOverLogin(t *testing.T) {
	const noForm = 1000 // added to a status
	s := newSite(t, locked)
	b, other := newBrowser(s, here), newBrowser(s, here)
	own, others := csrf(t, b.open("/login", nil)), csrf(t, other.open("/login", nil))
	for _, tt := range []struct {
		name, target string
		form         url.Values
		fields       [][2]string
		status       int
	}{
		{"its own", "/registry/edit", url.Values{"csrf": {own}, "name": {"x"}}, nil, 403},
		{"without its field", "/registry/edit", url.Values{"name": {"x"}}, nil, 403},
		{"of another browser", "/registry/edit", url.Values{"csrf": {others}, "name": {"x"}}, nil, 403},
		{
			"of another site", "/registry/edit",
			url.Values{"csrf": {own}, "name": {"x"}},
			[][2]string{{"Origin", "https://evil.example"}},
			403 + noForm,
		},
		{
			"of an older browser at another site", "/registry/edit",
			url.Values{"csrf": {own}, "name": {"x"}},
			[][2]string{{"Sec-Fetch-Site", "cross-site"}},
			403 + noForm,
		},
		{
			"with a token", "/registry/edit",
			url.Values{"csrf": {own}, "name": {"x"}},
			[][2]string{{"Authorization", "Bearer wrong"}},
			401,
		},
		{
			"of a program", "/registry/edit",
			url.Values{"csrf": {own}, "name": {"x"}},
			[][2]string{{"Accept", "application/json"}},
			401,
		},
		{"a long one", "/registry/edit", url.Values{"csrf": {own}, "name": {strings.Repeat("x", 1<<20)}}, nil, 403},
		{
			"one that is too long", "/registry/edit",
			url.Values{"csrf": {own}, "name": {strings.Repeat("x", 3<<20)}},
			nil, 401,
		},
		{
			"to a long address", "/registry/edit?uri=" + strings.Repeat("x", 2000),
			url.Values{"csrf": {own}, "name": {"x"}},
			nil, 401,
		},
	} {
		b.fields = tt.fields
		w := b.open(tt.target, tt.form)
		if taken := strings.Contains(w.Body.String(), `name="again"`); w.Code != tt.status%noForm ||
			taken != (tt.status == 403) {
			t.Errorf("%s: %d, %.2000s", tt.name, w.Code, w.Body)
		}
	}
	b.fields = nil
	for _, next := range []string{
		"/api/v1/names", "/", "/login", "//evil.example/",
		"https://evil.example/registry/edit",
	} {
		w := b.open("/login?next="+url.QueryEscape(next),
			url.Values{"csrf": {csrf(t, b.open("/login", nil))}, "token": {adminToken}, "again": {"eyJhIjpbImIiXX0"}})
		if w.Code != 303 || strings.Contains(w.Body.String(), "Send again") {
			t.Errorf("to %s: %d, %s", next, w.Code, w.Body)
		}
	}
}

// A form from before a restart, or from a browser that has lost its cookie, is shown again if the browser
// says that it is same-origin: it has no effect until it is submitted again.
func TestFormFromBeforeARestart(t *testing.T) {
	for name, change := range map[string]func(*admin.Config){"locked": locked, "open": nil} {
		s := newSite(t, change)
		b := newBrowser(s, here, [2]string{"Origin", "http://127.0.0.1:8142"})
		form := url.Values{
			"csrf": {"of another life"}, "name": {"urn:nbn:fi:a"}, "do": {"save"},
			"t0-uri": {"https://a.example/"}, "note": {"<i>"},
		}
		w := b.open("/registry/edit", form)
		if w.Code != 403 || strings.Contains(w.Body.String(), "<i>") {
			t.Fatalf("%s: %d, %s", name, w.Code, w.Body)
		}
		shown := page{w, "/registry/edit"}
		if change != nil {
			fields, action := shown.form(t)
			fields.Set("csrf", "and of one more") // after another restart
			shown = page{b.open(action, fields), action}
			shown.expect(t, 403, "nothing has changed yet")
			shown = b.press(t, shown, "", "token="+adminToken)
			shown.expect(t, 200, "sent after your session had expired")
		} else {
			shown.expect(t, 403, "nothing has changed yet")
		}
		fields, action := shown.form(t)
		if action != "/registry/edit" || fields.Get("name") != "urn:nbn:fi:a" || fields.Get("note") != "<i>" ||
			fields.Get("csrf") == "of another life" {
			t.Errorf("%s: %s, %v", name, action, fields)
		}
		b.fields = [][2]string{{"Origin", "http://127.0.0.1:80"}}
		if w := b.open("/registry/edit", form); w.Code != 403 || strings.Contains(w.Body.String(), "urn:nbn:fi:a") {
			t.Errorf("%s, of another site: %d, %s", name, w.Code, w.Body)
		}
	}
}

// The page of a preserved form is in one language, that of the login page.
func TestLanguageOfPreservedForm(t *testing.T) {
	s := newSite(t, locked)
	b := newBrowser(s, here)
	b.open("/login?lang=de", nil)
	form := url.Values{"csrf": {csrf(t, b.open("/login", nil))}, "name": {"urn:nbn:fi:a"}}
	login := page{b.open("/registry/edit", form), "/registry/edit"}
	again := b.press(t, login, "", "token="+adminToken)
	again.expect(t, 200, "Namen", "Änderungen", "Abmelden")
	if body := again.Body.String(); !strings.Contains(body, `<html lang="de">`) || strings.Contains(body, "Changes") {
		t.Errorf("mixed languages: %s", body)
	}
}

// Where no token is required, an expired session does not become a request without a token.
func TestEndedSessionWithoutRequiredToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		b := s.editorOf(t, token.Token{Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:"}})
		if w := newBrowser(s, here).open("/registry/tokens", nil); w.Code != 200 {
			t.Fatalf("a user without a token: %d", w.Code)
		}
		field := csrf(t, b.open("/registry/names", nil))
		time.Sleep(session.MaxIdle)
		for _, target := range []string{"/registry/names", "/registry/tokens"} {
			if w := b.open(target, nil); w.Code != 303 || !strings.HasPrefix(w.Header().Get("Location"), "/login") {
				t.Errorf("%s: %d", target, w.Code)
			}
		}
		if w := b.open("/api/v1/names", nil); w.Code != 401 {
			t.Errorf("the API: %d", w.Code)
		}
		page{
			b.open("/registry/edit", url.Values{"csrf": {field}, "name": {"urn:nbn:de:x"}, "do": {"save"}}),
			"",
		}.expect(t, 403, "Your session has expired")
		login := b.open("/login", nil)
		wantText(t, login, 200, "Continue without a token")
		if w := b.open("/logout", url.Values{"csrf": {csrf(t, login)}}); w.Code != 303 {
			t.Fatalf("leaving: %d", w.Code)
		}
		if w := b.open("/registry/tokens", nil); w.Code != 200 {
			t.Errorf("a disconnected client: %d", w.Code)
		}
	})
}
