package admin_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/admin"
)

// cachesForm submits a form of the page of the caches like a browser, and follows the redirect to its
// outcome.
func cachesForm(t *testing.T, h http.Handler, form url.Values) (status int, body string) {
	t.Helper()
	shown := adminRequest(h, "127.0.0.1:1", "GET /caches")
	page := text(t, shown)
	found := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindStringSubmatch(page)
	cookie, _, _ := strings.Cut(shown.Header.Get("Set-Cookie"), ";")
	if found == nil || cookie == "" || shown.StatusCode != http.StatusOK {
		t.Fatalf("%d, %q in %s", shown.StatusCode, cookie, page)
	}
	form.Set("csrf", found[1])
	status, body = post(t, h, form, cookie)
	if status != http.StatusSeeOther {
		return status, body
	}
	location, _, _ := strings.Cut(body, "<")
	shown = adminRequest(h, "127.0.0.1:1", "GET "+strings.TrimSpace(location))
	return shown.StatusCode, text(t, shown)
}

func post(t *testing.T, h http.Handler, form url.Values, cookie string) (status int, body string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/caches", strings.NewReader(form.Encode()))
	r.Host, r.RemoteAddr = "127.0.0.1:8142", "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Cookie", cookie)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Header().Get("Location") + w.Body.String()
}

// formOf returns a form of the page.
func formOf(cache, by, text, mode, sure string) url.Values {
	form := url.Values{"cache": {cache}, "by": {by}, "text": {text}, "mode": {mode}}
	if sure != "" {
		form.Set("sure", sure)
	}
	return form
}

// The forms of the page purge like the API; purging everything needs a confirmation.
func TestPurgesByForms(t *testing.T) {
	keys := []string{"http://a.example/", "http://b.example/"}
	for _, tt := range []struct {
		form     url.Values
		status   int
		purged   string
		reported string
	}{
		{
			formOf("answers", "uri", " urn:isbn:9780395363416 ", "soft", ""), 200, "urn:isbn:9780395363416 soft",
			"1 answer was made stale.",
		},
		{formOf("answers", "prefix", "urn:nbn:", "hard", ""), 200, "urn:nbn:", "1 answer was removed."},
		{formOf("answers", "namespace", "ISBN", "hard", "yes"), 200, "isbn", "removed"},
		{formOf("answers", "all", "ignored", "hard", "yes"), 200, "all", "removed"},
		{formOf("answers", "all", "", "hard", ""), 200, "", "confirm it"},
		{formOf("answers", "all", "", "refresh", "yes"), 200, "", "Unknown kind of purge"},
		{formOf("answers", "uri", "", "hard", ""), 200, "", "Nothing is selected"},
		{formOf("answers", "uri", `urn:"><script>`, "hard", ""), 200, "", `value="urn:&#34;&gt;&lt;script&gt;"`},
		{formOf("answers", "namespace", "no nid", "hard", ""), 200, "", "is not a NID"},
		{formOf("answers", "host", "a.example", "hard", ""), 200, "", "Unknown kind of purge"},
		{formOf("answers", "", "a.example", "hard", ""), 200, "", "Unknown kind of purge"},
		{formOf("answers", "mode", "hard", "hard", ""), 200, "", "Unknown kind of purge"},
		{formOf("records", "all", "", "hard", "yes"), 200, "", "Unknown kind of purge"},
		{
			formOf("responses", "uri", "HTTP://a.example", "soft", ""), 200, "1 false false",
			"1 stored response was made stale.",
		},
		{formOf("responses", "host", "b.example", "hard", ""), 200, "1 false true", "removed"},
		{
			formOf("responses", "uri", "http://a.example/", "refresh", ""), 200, "refresh http://a.example/",
			"fetched again",
		},
		{formOf("responses", "host", "a.example", "refresh", ""), 200, "", "Only one URL"},
		{formOf("responses", "all", "", "hard", "yes"), 200, "2 true true", "removed"},
		{formOf("responses", "all", "", "hard", "no"), 200, "", "confirm it"},
		{formOf("responses", "uri", "http://fails.example/", "refresh", ""), 502, "", "Bad Gateway"},
		{formOf("responses", "uri", "http://forbidden.example/", "refresh", ""), 403, "", "destination_forbidden"},
	} {
		caches, responses := &fakeCaches{}, &fakeResponses{keys: keys}
		h := newAdminHandler(caches, func(c *admin.Config) { c.Responses = responses })
		status, body := cachesForm(t, h, tt.form)
		purged := strings.Join(append(caches.purged, responses.purged...), ";")
		if status != tt.status || purged != tt.purged || !strings.Contains(body, tt.reported) {
			t.Errorf("%v: %d purged %q, want %d %q; %s is in %s", tt.form, status, purged, tt.status, tt.purged,
				tt.reported, body)
		}
	}
}

// A form without a valid CSRF token purges nothing.
func TestForgedPurges(t *testing.T) {
	caches := &fakeCaches{}
	h := newAdminHandler(caches, nil)
	all := formOf("answers", "all", "", "hard", "yes")
	for name, cookie := range map[string]string{"no cookie": "", "a cookie of no form": "urnd-8142=a"} {
		for _, csrf := range []string{"", "x"} {
			all.Set("csrf", csrf)
			if status, body := post(t, h, all, cookie); status != http.StatusForbidden || len(caches.purged) > 0 {
				t.Errorf("%s, %q: %d %s, purged %q", name, csrf, status, body, caches.purged)
			}
		}
	}
	if response := adminRequest(h, "127.0.0.1:1",
		"GET /caches?cache=answers&by=all&mode=hard&sure=yes"); response.StatusCode != http.StatusOK ||
		len(caches.purged) > 0 {
		t.Errorf("a link: %d, purged %q", response.StatusCode, caches.purged)
	}
}

// The page shows the cached entries of a name or URL, shortened.
func TestCachesPage(t *testing.T) {
	caches := &fakeCaches{found: []api.Entry{
		{
			Key: "urn:a1:b I2L", TTL: 5,
			Locations: []api.Location{{URI: "http://a.example/<>"}, {URI: "http://b.example/"}},
		},
		{Key: "urn:a1:b I2C", TTL: -1, Reason: "name not found"},
	}}
	h := newAdminHandler(caches, nil)
	for target, want := range map[string][]string{
		"/caches":           {"<h1>Caches</h1>", `<form class="fields" method="post" action="/caches">`},
		"/caches?uri=a%20b": {"role=\"alert\""},
		"/caches?uri=urn:a1:b": {
			"urn:a1:b I2L", "http://a.example/&lt;&gt;</bdi> and 1 more", "5 s",
			"no target: <bdi>name not found</bdi>", "stale", `name="text" value="urn:a1:b"`,
		},
	} {
		response := adminRequest(h, "127.0.0.1:1", "GET "+target)
		body := text(t, response)
		for _, part := range want {
			if response.StatusCode != http.StatusOK || !strings.Contains(body, part) {
				t.Errorf("%s: %d, no %s in %s", target, response.StatusCode, part, body)
			}
		}
	}
	caches.found = nil
	for range 1000 {
		caches.found = append(caches.found,
			api.Entry{
				Key:       strings.Repeat("<", 1000),
				Locations: []api.Location{{URI: "http://a.example/" + strings.Repeat("&", 5000)}},
			})
	}
	const most = 30_000
	if body := text(t, adminRequest(h, "127.0.0.1:1",
		"GET /caches?uri="+url.QueryEscape("urn:a1:b"))); len(body) > most || !strings.Contains(body, "And 988 more.") {
		t.Errorf("%d bytes: %s", len(body), body)
	}
}
