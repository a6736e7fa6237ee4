package admin_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// browser is the browser of a person, at an address.
type browser struct {
	http.Handler
	peer    string
	fields  [][2]string
	cookies map[string]string
}

func newBrowser(s *site, peer string, fields ...[2]string) *browser {
	return &browser{s, peer, fields, make(map[string]string)}
}

// open requests a page, or submits a form to it.
func (b *browser) open(target string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	if form != nil {
		r = httptest.NewRequest(http.MethodPost, target, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Host, r.RemoteAddr = "127.0.0.1:8142", b.peer
	r.Header.Set("Accept", "text/html")
	for _, field := range b.fields {
		r.Header.Set(field[0], field[1])
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// csrf returns the CSRF token of the forms of a page.
func csrf(t *testing.T, page *httptest.ResponseRecorder) string {
	t.Helper()
	value := testserver.ParseHTML(page.Body.String()).First("input", "name=csrf").Attr("value")
	if value == "" {
		t.Fatalf("%d, no form in %s", page.Code, page.Body)
	}
	return value
}

// logIn logs in, and returns the status and the target of the redirect.
func (b *browser) logIn(t *testing.T, secret, next string) (int, string) {
	t.Helper()
	target := "/login?next=" + url.QueryEscape(next)
	w := b.open(target, url.Values{"csrf": {csrf(t, b.open(target, nil))}, "token": {secret}})
	return w.Code, w.Header().Get("Location")
}

const here = "127.0.0.1:5"

// A link of another site does not end the session: browsers withhold the cookie (SameSite=Strict), but accept a new one.
func TestLinkOfAnotherSite(t *testing.T) {
	s := newSite(t, locked)
	for _, target := range []string{"/registry/names", "/login", "/status"} {
		b := newBrowser(s, here, [2]string{"Sec-Fetch-Site", "cross-site"})
		if w := b.open(target, nil); w.Code != 403 || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("%s: %d, %v", target, w.Code, w.Header())
		}
		b.fields = nil
		if b.open(target, nil); len(b.cookies) != 1 {
			t.Errorf("%s, typed: %v", target, b.cookies)
		}
	}
}

func TestLogin(t *testing.T) {
	s := newSite(t, locked)
	_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Name: "root", Role: registry.Admin},
		token.Token{Name: "anna", Role: registry.Reader})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(s, here)
	if w := b.open("/registry/names?prefix=urn:nbn:", nil); w.Code != 303 ||
		w.Header().Get("Location") != "/login?next=%2Fregistry%2Fnames%3Fprefix%3Durn%3Anbn%3A" {
		t.Fatalf("without a session: %d, %v", w.Code, w.Header())
	}
	if code, to := b.logIn(t, "wrong", "/"); code != 303 || to != "/login?next=%2F&refused=" ||
		!strings.Contains(b.open(to, nil).Body.String(), "token is not valid") {
		t.Errorf("with a wrong token: %d", code)
	}
	if _, location := b.logIn(t, secret, "/"); location != "/registry/names" {
		t.Errorf("an editor is led to %s", location)
	}
	if code, location := b.logIn(t, secret, "/registry/names"); code != 303 || location != "/registry/names" {
		t.Fatalf("with a token: %d, %s", code, location)
	}
	page := b.open("/registry/names", nil)
	if body := page.Body.String(); page.Code != 200 || !strings.Contains(body, "anna") ||
		strings.Contains(body, secret) {
		t.Errorf("with a session: %d, %s", page.Code, body)
	}
	for target, want := range map[string]int{"/api/v1/names": 200, "/status": 403, "/api/v1/config": 403} {
		if w := b.open(target, nil); w.Code != want {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := b.open("/logout", url.Values{"csrf": {csrf(t, page)}}); w.Code != 303 || len(b.cookies) > 0 {
		t.Errorf("logging out: %d, %v", w.Code, b.cookies)
	}
	if w := b.open("/registry/names", nil); w.Code != 303 {
		t.Errorf("after logging out: %d", w.Code)
	}
	if code, _ := b.logIn(t, adminToken, "/status"); code != 303 {
		t.Fatalf("with the token of administrators: %d", code)
	}
	for _, target := range []string{"/registry/names", "/api/v1/config", "/"} {
		if w := b.open(target, nil); w.Code != 200 {
			t.Errorf("%s, as an administrator: %d", target, w.Code)
		}
	}
}

// A session ends with its token.
func TestSessionOfRevokedToken(t *testing.T) {
	s := newSite(t, locked)
	root := registry.Actor{Name: "root", Role: registry.Admin}
	made, secret, err := token.Create(t.Context(), s.registry, root, token.Token{Name: "anna", Role: registry.Writer})
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(s, here)
	b.logIn(t, secret, "/")
	field := csrf(t, b.open("/registry/names", nil))
	if _, err := token.Revoke(t.Context(), s.registry, root, made.ID); err != nil {
		t.Fatal(err)
	}
	if w := b.open("/registry/names", url.Values{"csrf": {field}}); w.Code != 403 {
		t.Errorf("a form is taken with a token that was revoked: %d", w.Code)
	}
}

// Cross-site request forgery, from a page of another site, or of another port of this host.
func TestForgedForms(t *testing.T) {
	for _, name := range []string{"locked", "without a token"} {
		s := newSite(t, func(c *admin.Config) {
			if name == "locked" {
				c.Token = []byte(adminToken)
			}
		})
		b, other := newBrowser(s, here), newBrowser(s, here)
		if name == "locked" {
			b.logIn(t, adminToken, "/")
			other.logIn(t, adminToken, "/")
		}
		own, others := csrf(t, b.open("/login", nil)), csrf(t, other.open("/login", nil))
		for _, tt := range []struct {
			name   string
			form   url.Values
			fields [][2]string
			want   int
		}{
			{"its own", url.Values{"csrf": {own}}, nil, 200},
			{"none", url.Values{}, nil, 403},
			{"that of another browser", url.Values{"csrf": {others}}, nil, 403},
			{"from another site", url.Values{"csrf": {own}}, [][2]string{{"Origin", "https://evil.example"}}, 403},
			{"from another port", url.Values{"csrf": {own}}, [][2]string{{"Sec-Fetch-Site", "same-site"}}, 403},
		} {
			b.fields = tt.fields
			if w := b.open("/registry/names", tt.form); w.Code != tt.want {
				t.Errorf("%s, %s: %d, %s", name, tt.name, w.Code, w.Body)
			}
		}
		b.fields = nil
		delete(b.cookies, "urnd-8142")
		if w := b.open("/registry/names", url.Values{"csrf": {own}}); w.Code < 400 {
			t.Errorf("%s, without the cookie: %d", name, w.Code)
		}
	}
}

// Login is refused over a connection that can be eavesdropped.
func TestPlainLogin(t *testing.T) {
	s := newSite(t, func(c *admin.Config) {
		c.Token, c.Proxies = []byte(adminToken), []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32")}
	})
	const away = "192.0.2.1:5"
	for _, tt := range []struct {
		name   string
		peer   string
		fields [][2]string
		status int
		cookie string
	}{
		{"from elsewhere", away, nil, 403, ""},
		{"from here", here, nil, 200, "urnd-8142"},
		{"by a Unix socket", "@", nil, 200, "urnd-8142"},
		{
			"by a proxy with TLS", "127.0.0.9:5",
			[][2]string{{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "https"}},
			200, "__Host-urnd-8142",
		},
		{
			"by a proxy without", "127.0.0.9:5",
			[][2]string{{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "http"}},
			403, "",
		},
		{
			"of who says so himself", away,
			[][2]string{{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "https"}},
			403, "",
		},
	} {
		b := newBrowser(s, tt.peer, tt.fields...)
		w := b.open("/login", nil)
		if _, ok := b.cookies[tt.cookie]; w.Code != tt.status || tt.cookie != "" && !ok {
			t.Errorf("%s: %d, %v", tt.name, w.Code, b.cookies)
		}
		if cookie := w.Header().Get("Set-Cookie"); strings.HasPrefix(cookie,
			"__Host-") != strings.Contains(cookie, "Secure") {
			t.Errorf("%s: %s", tt.name, cookie)
		}
	}
}

// The login page does not redirect to another server.
func TestNextAfterLogin(t *testing.T) {
	s := newSite(t, locked)
	for next, want := range map[string]string{
		"/registry/names?a=b%26": "/registry/names?a=b%26", "": "/", "/": "/", "//evil.example/": "/",
		"https://evil.example/": "/", `/\evil.example`: "/", "/\tevil": "/", "javascript:alert(1)": "/", "evil": "/",
		"/login?next=/login": "/", "/a\r\nX: y": "/", "/%2F/evil.example": "/", "/" + strings.Repeat("a", 2000): "/",
	} {
		if code, location := newBrowser(s, here).logIn(t, adminToken, next); code != 303 || location != want {
			t.Errorf("%q: %d, %q", next, code, location)
		}
	}
}

// Input errors are no failures of urnd, and a denied request may be an attack.
func TestLevelsOfPages(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, func(c *admin.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	b := newBrowser(s, here)
	for target, level := range map[string]string{
		"/registry/name?uri=urn:nbn:fi:none": "INFO",
		"/registry/name?uri=a+b":             "INFO",
	} {
		log.Reset()
		if w := b.open(target, nil); w.Code < 400 || w.Code >= 500 || !strings.Contains(log.String(), "level="+level) {
			t.Errorf("%s: %d, %s", target, w.Code, log.String())
		}
	}
	log.Reset()
	if w := b.open("/registry/names", url.Values{"csrf": {"forged"}}); w.Code != 403 ||
		!strings.Contains(log.String(), "level=WARN") {
		t.Errorf("a forged form: %d, %s", w.Code, log.String())
	}
}

// Wrong tokens in the form do not lock out a right one.
func TestGuessesByForm(t *testing.T) {
	s := newSite(t, locked)
	b := newBrowser(s, here)
	for range 30 {
		if status, _ := b.logIn(t, "wrong-wrong-wrong", "/"); status != 303 {
			t.Fatalf("a wrong token: %d", status)
		}
	}
	if status, _ := b.logIn(t, adminToken, "/"); status != 303 {
		t.Errorf("the right one: %d", status)
	}
}
