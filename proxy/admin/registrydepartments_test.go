package admin_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// library returns a site with names for searches.
func library(t *testing.T) *site {
	s := newSite(t, locked)
	s.ask("PUT "+of(names, "urn:nbn:fi:a"),
		`{"targets":[{"uri":"https://Old.example/1"}],"metadata":{"title":"Kalevala","tags":["Epic","fi"]}}`, admins)
	s.ask("PUT "+of(names, "urn:nbn:fi:b"),
		`{"targets":[{"uri":"https://new.example/2"}],"metadata":{"year":1835,"tags":"epic"}}`, admins)
	s.ask("PUT "+of(names, "urn:nbn:fi:c"), `{"status":"reserved"}`, admins)
	s.ask("PUT "+of(names, "urn:nbn:se:1"), `{"targets":[{"uri":"https://old.example/3"}]}`, admins)
	return s
}

const admins = "Authorization: bEARER  " + adminToken

func TestSearchByAPI(t *testing.T) {
	s := library(t)
	for query, want := range map[string]string{
		"target=//OLD.example/":                 "urn:nbn:fi:a urn:nbn:se:1",
		"target=old.example&prefix=urn:nbn:fi:": "urn:nbn:fi:a",
		"text=fi:B":                             "urn:nbn:fi:b",
		"status=reserved,withdrawn":             "urn:nbn:fi:c",
		"tag=EPIC":                              "urn:nbn:fi:a urn:nbn:fi:b",
		"metadata=title=kalevala":               "urn:nbn:fi:a",
		"metadata=year=1835":                    "urn:nbn:fi:b",
		"metadata=year":                         "urn:nbn:fi:b",
		"metadata=year=1836":                    "",
		"tag=none":                              "",
		"title=KALE":                            "urn:nbn:fi:a",
		"title=kale&prefix=urn:nbn:se:":         "",
		"title=epic":                            "",
	} {
		r := s.ask("GET "+names+"?"+query, "", admins)
		var page api.NamePage
		if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
		var found []string
		for _, n := range page.Names {
			found = append(found, n.Name)
		}
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	r := s.ask("GET "+names+"?tag=epic&limit=1", "", admins)
	next, _, _ := strings.Cut(strings.TrimPrefix(r.header.Get("Link"), "<"), ">")
	if r = s.ask("GET "+next, "", admins); r.status != 200 || !strings.Contains(r.body, "urn:nbn:fi:b") ||
		strings.Contains(r.body, "urn:nbn:fi:a") {
		t.Errorf("the second page at %s: %d %s", next, r.status, r.body)
	}
	for _, query := range []string{
		"status=gone", "status=active,", "title=%3F", "metadata=%3Da", "tags=epic",
		"prefix=", "limit=0",
	} {
		if r := s.ask("GET "+names+"?"+query, "", admins); r.status != 400 && query != "prefix=" {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

func TestExportByAPI(t *testing.T) {
	s := library(t)
	reader := s.token(t, registry.Reader, "urn:nbn:fi:")
	for _, c := range []struct {
		query, token  string
		status, lines int
		kind          string
	}{
		{"", admins, 200, 4, "application/x-ndjson"},
		{"?format=csv&target=old.example", admins, 200, 3, "text/csv; charset=utf-8"},
		{"?prefix=urn:nbn:fi:&format=tsv", reader, 200, 4, "text/tab-separated-values; charset=utf-8"},
		{"", reader, 403, 0, ""},
		{"?prefix=urn:nbn:se:", reader, 403, 0, ""},
		{"?format=xlsx", admins, 400, 0, ""},
		{"?limit=3", admins, 400, 0, ""},
	} {
		r := s.ask("GET "+names+"/export"+c.query, "", c.token)
		if r.status != c.status ||
			c.status == 200 && (strings.Count(r.body, "\n") != c.lines || r.header.Get("Content-Type") != c.kind) {
			t.Errorf("%s: %d %s\n%s", c.query, r.status, r.header.Get("Content-Type"), r.body)
		}
	}
	for range 10 { // each export releases its slot
		if r := s.ask("HEAD "+names+"/export", "", admins); r.status != 200 {
			t.Fatal(r.status)
		}
	}
}

func TestStatisticsByAPI(t *testing.T) {
	s := library(t)
	reader := s.token(t, registry.Reader, "urn:nbn:fi:")
	for _, c := range []struct {
		query, token string
		status       int
		part         string
	}{
		{"", admins, 200, `"urn:nbn"`},
		{"?prefix=urn:nbn:fi:", reader, 200, `"active": 2,`},
		{"?tag=epic&prefix=urn:nbn:fi:", reader, 200, `"active": 2,`},
		{"?uri=urn:nbn:fi:a", reader, 200, `"periods": []`},
		{"?uri=urn:nbn:fi:a&since=today", reader, 400, "is not a day"},
		{"", reader, 403, ""},
		{"?uri=urn:nbn:se:1", reader, 403, ""},
		{"?since=2031-05-01", admins, 200, `"periods": []`},
		{"?since=2031-05-01", reader, 403, ""},
		{"?since=2031-05-01&prefix=urn:nbn:fi:", reader, 400, "cannot be combined"},
		{"?until=2031-05-01&tag=epic", admins, 400, "cannot be combined"},
		{"?until=never", admins, 400, "is not a day"},
	} {
		if r := s.ask("GET /api/v1/statistics"+c.query, "", c.token); r.status != c.status ||
			!strings.Contains(r.body, c.part) {
			t.Errorf("%s: %d %s", c.query, r.status, r.body)
		}
	}
	for query, status := range map[string]int{"": 200, "?state=unhealthy": 200, "?state=ill": 400} {
		if r := s.ask("GET /api/v1/health"+query, "", admins); r.status != status ||
			status == 200 && !strings.Contains(r.body, `"targets": []`) {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

// A department creates tokens for a part of its own rights, and none beyond them.
func TestTokensByAPI(t *testing.T) {
	s := library(t)
	department := s.token(t, registry.Admin, "urn:nbn:fi:")
	for body, status := range map[string]int{
		`{"name":"x","role":"writer"}`:                                              403,
		`{"name":"x","role":"writer","prefixes":["urn:nbn:se:"]}`:                   403,
		`{"name":"x","role":"writer","prefixes":["urn:nbn:fi:","urn:nbn:se:"]}`:     403,
		`{"name":"x","role":"owner","prefixes":["urn:nbn:fi:"]}`:                    422,
		`{"name":"x","role":"writer","prefixes":["urn:nbn:fi:"],"actions":["all"]}`: 422,
		`{"name":"x","role":"writer","prefixes":["urn:nbn:fi:"],"name":"y"}`:        422,
		`{"role":"writer","prefixes":["urn:nbn:fi:"]}`:                              422,
	} {
		if r := s.ask("POST /api/v1/tokens", body, department); r.status != status {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	r := s.ask("POST /api/v1/tokens",
		`{"name":"loader","role":"writer","prefixes":["urn:nbn:fi:a"],"actions":["read","change"]}`, department)
	var made struct{ ID, Secret string }
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status != 201 || made.Secret == "" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	loader := "Authorization: bearer " + made.Secret
	for request, want := range map[string]int{
		"GET " + of(names, "urn:nbn:fi:a"):                                            200,
		"PATCH " + of(names, "urn:nbn:fi:a") + ` {"contact":"x"}`:                     200,
		"PATCH " + of(names, "urn:nbn:fi:a") + ` {"status":"withdrawn","reason":"x"}`: 403,
		"POST " + of(names+"/withdraw", "urn:nbn:fi:a") + ` {"reason":"x"}`:           403,
		"POST " + names + `/mint {"pattern":"urn:nbn:fi:a{counter}"}`:                 403,
		"POST /api/v1/jobs {}": 403,
		"GET /api/v1/tokens":   403,
	} {
		method, rest, _ := strings.Cut(request, " ")
		target, body, _ := strings.Cut(rest, " ")
		if r := s.ask(method+" "+target, body, loader); r.status != want {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
	if r := s.ask("GET /api/v1/tokens", "", department); r.status != 200 || !strings.Contains(r.body, made.ID) ||
		strings.Contains(r.body,
			made.Secret) || strings.Contains(r.body, "hash") {
		t.Errorf("%d %s", r.status, r.body)
	}
	other := s.token(t, registry.Admin, "urn:nbn:se:")
	if r := s.ask("GET /api/v1/tokens", "", other); strings.Contains(r.body, made.ID) {
		t.Errorf("another department sees %s", r.body)
	}
	if r := s.ask("DELETE /api/v1/tokens/"+made.ID, "", other); r.status != 403 {
		t.Errorf("another department: %d %s", r.status, r.body)
	}
	if r := s.ask("DELETE /api/v1/tokens/"+made.ID, "", department); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := s.ask("PATCH "+of(names, "urn:nbn:fi:a"), `{"contact":"y"}`, loader); r.status != 401 {
		t.Errorf("after it was revoked: %d %s", r.status, r.body)
	}
}

// stopped is a body whose client has stalled.
type stopped struct{ io.Reader }

func (stopped) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// A stalled body is an error of the client, and a body with a too large Content-Length is not read.
func TestStoppedBodies(t *testing.T) {
	s := library(t)
	for _, c := range []struct {
		length int64
		want   int
	}{{-1, http.StatusRequestTimeout}, {1 << 40, http.StatusRequestEntityTooLarge}} {
		r := httptest.NewRequest("PUT", of(names, "urn:nbn:fi:new"), stopped{})
		r.Host, r.RemoteAddr, r.ContentLength = "127.0.0.1:8142", "127.0.0.1:1", c.length
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "BEARER "+adminToken)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("length %d: %d %s", c.length, w.Code, w.Body)
		}
		// Otherwise net/http waits once more for the rest of the body before it sends the response.
		if closes := w.Header().Get("Connection") == "close"; closes != (c.want == http.StatusRequestTimeout) {
			t.Errorf("length %d: Connection is %q", c.length, w.Header().Get("Connection"))
		}
	}
}

// Changes that fail because of a concurrent change are counted.
func TestConflictsAreCounted(t *testing.T) {
	conflicts := 0
	s := newSiteOf(t, func(c *service.Config) { c.Conflict = func() { conflicts++ } }, nil)
	s.put(t, "urn:nbn:fi:a", `{"status":"reserved"}`)
	for _, version := range []string{`"7"`, `"1"`, `"1"`} {
		s.ask("PATCH "+of(names, "urn:nbn:fi:a"), `{"contact":"c`+version[1:2]+`"}`, "If-Match: "+version)
	}
	s.ask("PATCH "+of(names, "urn:nbn:fi:none"), `{"contact":"c"}`)
	if conflicts != 2 {
		t.Errorf("%d conflicts were counted, want 2", conflicts)
	}
}
