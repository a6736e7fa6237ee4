package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
)

// nextOf returns the target of the next page, "" for none.
func nextOf(r reply) string {
	target, ok := strings.CutSuffix(r.header.Get("Link"), `>; rel="next"`)
	if !ok {
		return ""
	}
	return strings.TrimPrefix(target, "<")
}

func TestListByPages(t *testing.T) {
	s := newSite(t, nil)
	var want []string
	for i := range 25 {
		name := fmt.Sprintf("urn:nbn:fi:a-%02d", i)
		s.put(t, name, `{"status":"reserved"}`)
		want = append(want, name)
	}
	s.put(t, "urn:nbn:at:x", `{"status":"reserved"}`)
	s.put(t, "https://a.example//x%2Fy?z=1&y", `{"status":"reserved"}`)
	var got []string
	pages := 0
	for target := names + "?limit=10&prefix=urn:NBN:fi:"; target != ""; pages++ {
		r := s.ask("GET "+target, "")
		var page api.NamePage
		if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", target, r.status, r.body)
		}
		for _, n := range page.Names {
			got = append(got, n.Name)
		}
		if target = nextOf(r); (page.Next != "") != (target != "") {
			t.Errorf("next is %q and %q", page.Next, target)
		}
	}
	if !slices.Equal(got, want) || pages != 3 {
		t.Errorf("%d pages: %q", pages, got)
	}
	for query, n := range map[string]int{
		"": 27, "?prefix=urn:nbn:fi:a-1": 10, "?prefix=https://a.example/": 1, "?prefix=urn:none:": 0, "?limit=1": 1,
		"?prefix=URN:": 26, "?prefix=ur": 26, "?prefix=urn:NB": 26, "?prefix=urn:isb": 0, "?prefix=HTTPS://a.exam": 1,
		"?prefix=https": 1,
	} {
		var page api.NamePage
		if r := s.ask("GET "+names+query, ""); json.Unmarshal([]byte(r.body), &page) != nil || len(page.Names) != n ||
			page.Names == nil {
			t.Errorf("%q: %d %s", query, r.status, r.body)
		}
	}
	for _, query := range []string{
		"?limit=0", "?limit=1001", "?limit=x", "?cursor=!", "?prefix=:", "?prefix=https://a.example/%25",
		"?limit=1&limit=1", "?after=a", "?uri=", "?uri=urn:a:b&prefix=urn:", "?at=2031-05-01",
	} {
		if r := s.ask("GET "+names+query, ""); r.status != 400 && r.status != 422 {
			t.Errorf("%q: %d %s", query, r.status, r.body)
		}
	}
}

func TestHistory(t *testing.T) {
	s := newSite(t, nil)
	const name = "urn:nbn:fi:a"
	s.put(t, name, `{"contact":"0","status":"reserved"}`)
	for i := range 4 {
		if r := s.ask("PATCH "+of(names, name), fmt.Sprintf(`{"contact":"%d"}`, i+1)); r.status != 200 {
			t.Fatal(r.body)
		}
	}
	var got []string
	for target := of(names+"/history", name) + "&limit=2"; target != ""; {
		r := s.ask("GET "+target, "")
		var page api.NameHistory
		if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", target, r.status, r.body)
		}
		for _, n := range page.Versions {
			got = append(got, fmt.Sprint(n.Version, " ", n.Contact))
		}
		target = nextOf(r)
	}
	if want := []string{"5 4", "4 3", "3 2", "2 1", "1 0"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for target, status := range map[string]int{
		of(names+"/history", "urn:nbn:fi:none"): 404, names + "/history": 400,
		of(names+"/history", name) + "&cursor=eA": 400, of(names+"/history", name) + "&cursor=LTE": 400,
	} {
		if r := s.ask("GET "+target, ""); r.status != status {
			t.Errorf("%s: %d %s", target, r.status, r.body)
		}
	}
}

func TestVersionAsOfTime(t *testing.T) {
	s := newSite(t, nil)
	const name = "urn:nbn:fi:a"
	s.put(t, name, `{"contact":"now","status":"reserved"}`)
	changed := s.ask("GET "+of(names, name), "").name(t).Changed
	for at, status := range map[string]int{
		changed.Format(time.RFC3339Nano): 200, "2001-01-01": 404, changed.Format(time.DateOnly): 200,
		changed.AddDate(0, 0, -1).Format(time.DateOnly): 404, "2001-01-01T00:00:00Z": 404,
		changed.AddDate(1, 0, 0).Format(time.DateOnly):             200,
		changed.Add(time.Hour).Format("2006-01-02T15:04:05+00:00"): 200, "yesterday": 400,
	} {
		r := s.ask("GET "+of(names, name)+"&at="+url.QueryEscape(at), "")
		if r.status != status || status == 200 && r.header.Get("ETag") != `"1"` {
			t.Errorf("%s: %d %s", at, r.status, r.body)
		}
	}
}

func TestPrefixesAndSandboxes(t *testing.T) {
	s := newSite(t, nil)
	r := s.ask("PUT "+of(prefixes, "URN:NBN:fi:test-"),
		`{"sandbox":true,"authoritative":true,"targets":[{"uri":"https://a.example/"}]}`)
	if n := r.name(t); r.status != 201 || !n.Prefix || !n.Sandbox ||
		r.header.Get("Location") != of(prefixes, "urn:nbn:fi:test-") {
		t.Errorf("%d %s", r.status, r.body)
	}
	s.put(t, "urn:nbn:fi:test-1", `{"status":"reserved"}`)
	s.put(t, "urn:nbn:fi:real", `{"status":"reserved"}`)
	if r := s.ask("GET "+prefixes, ""); r.status != 200 || !strings.Contains(r.body, "urn:nbn:fi:test-") {
		t.Errorf("%d %s", r.status, r.body)
	}
	for query, want := range map[string]int{"": 400, "?prefix=": 400, "?all=true": 400} {
		if r := s.ask("DELETE /api/v1/sandboxes"+query, ""); r.status != want {
			t.Errorf("%q: %d %s", query, r.status, r.body)
		}
	}
	if r := s.ask("DELETE /api/v1/sandboxes?prefix=URN:nbn:fi:", ""); r.status != 200 ||
		!strings.Contains(r.body, `"purged": 2`) {
		t.Errorf("%d %s", r.status, r.body)
	}
	for name, status := range map[string]int{"urn:nbn:fi:test-1": 404, "urn:nbn:fi:real": 200} {
		if r := s.ask("GET "+of(names, name), ""); r.status != status {
			t.Errorf("%s: %d", name, r.status)
		}
	}
	purged := s.audited[len(s.audited)-2:]
	if !purged[0].Before.Exists() || purged[0].After.Exists() ||
		purged[1].After.Key != registry.Prefix("urn:nbn:fi:test-") {
		t.Errorf("the audit sees %+v", purged)
	}
}

func TestMint(t *testing.T) {
	s := newSite(t, nil)
	r := s.ask("POST "+names+"/mint", `{"pattern":"urn:nbn:fi:m-{counter:4}","count":2,"note":"n"}`)
	var minted api.Minted
	if err := json.Unmarshal([]byte(r.body), &minted); err != nil || r.status != 201 || len(minted.Names) != 2 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if n := s.ask("GET "+of(names, minted.Names[1]), "").name(t); n.Status != registry.Reserved {
		t.Errorf("%+v", n)
	}
	for body, status := range map[string]int{
		`{}`: 422, `{"pattern":"urn:nbn:fi:m"}`: 422, `{"pattern":"urn:nbn:fi:m-{counter}","count":100000}`: 422,
		`{"n":1}`: 422, `x`: 400,
	} {
		if r := s.ask("POST "+names+"/mint", body); r.status != status {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	limited := s.token(t, registry.Writer, "urn:nbn:fi:x-")
	if r := s.ask("POST "+names+"/mint", `{"pattern":"urn:nbn:fi:m-{counter}"}`, limited); r.status != 403 {
		t.Errorf("of other names: %d %s", r.status, r.body)
	}
}

// Unusual names neither escape their place nor cause a failure.
func TestHostileNames(t *testing.T) {
	s := newSite(t, nil)
	for _, name := range []string{
		"https://a.example//b//../c?d=e&f#g", "https://a.example/%2F%2e%2e/x", "urn:example:a%2Fb",
		"urn:example:%E2%82%AC", "urn:example:a/../b",
		"urn:example:a//b", "urn:example:a+b",
	} {
		r := s.ask("PUT "+of(names, name), `{"status":"reserved"}`)
		if r.status != 201 {
			t.Errorf("%q: %d %s", name, r.status, r.body)
			continue
		}
		if got := s.ask("GET "+r.header.Get("Location"), ""); got.status != 200 || got.name(t).Name != r.name(t).Name {
			t.Errorf("%q: %s: %d %s", name, r.header.Get("Location"), got.status, got.body)
		}
	}
	long := "urn:nbn:fi:" + strings.Repeat("a", registry.MaxName)
	for _, name := range []string{
		"", "a", "urn:", "urn:nbn:fi:a\r\nX: y", "urn:nbn:fi:a\x00", "urn:nbn:fi:a b", "urn:nbn:fi:\xff", "%00", "//",
		long,
		"urn:isbn:1",
	} {
		for _, request := range []string{
			"PUT " + of(names, name), "GET " + of(names, name), "PATCH " + of(names, name),
			"POST " + of(names+"/withdraw",
				name), "GET " + of(names+"/history", name),
		} {
			r := s.ask(request, `{}`)
			if r.status != 400 && r.status != 422 {
				t.Errorf("%.40q: %d %s", request, r.status, r.body)
			}
			for field, lines := range r.header {
				if strings.ContainsAny(strings.Join(lines, ""), "\r\n\x00") {
					t.Errorf("%q: the field %s is %q", name, field, lines)
				}
			}
		}
	}
	for _, target := range []string{
		names + "/urn:nbn:fi:a", names + "/", names + "//", names + "/../cache",
		"/api/v1/names%2f..", names + "/%2e%2e/config",
	} {
		if r := s.ask("GET "+target, ""); r.status != 404 {
			t.Errorf("%s: %d %s", target, r.status, r.body)
		}
	}
}

func TestBodies(t *testing.T) {
	s := newSite(t, nil)
	target := "PUT " + of(names, "urn:nbn:fi:a")
	for _, tt := range []struct {
		body, kind string
		status     int
	}{
		{`{"status":"reserved"}`, "application/json", 201},
		{`{"status":"withdrawn"}`, "application/json", 422},
		{`{"status":"reserved"}`, "application/json; charset=UTF-8", 200},
		{`{}`, "application/json; charset=latin1", 415},
		{`{}`, "text/plain", 415},
		{`{}`, "", 415},
		{`{}`, "application/merge-patch+json", 415},
		{``, "application/json", 400},
		{`{"targets":[}`, "application/json", 400},
		{`{} {}`, "application/json", 400},
		{`[]`, "application/json", 422},
		{`{"target":"https://a.example/"}`, "application/json", 422},
		{`{"name":"urn:nbn:fi:b"}`, "application/json", 422},
		{`{"prefix":true,"name":"urn:nbn:fi:a"}`, "application/json", 422},
		{`{"status":"gone"}`, "application/json", 422},
		{`{"metadata":[]}`, "application/json", 422},
		{`{"note":"` + strings.Repeat("a", registry.MaxText+1) + `"}`, "application/json", 422},
		{`{"note":"` + strings.Repeat("a", 3<<20) + `"}`, "application/json", 413},
	} {
		condition := "If-Match: *"
		if tt.status == 201 {
			condition = "If-None-Match: *"
		}
		if r := s.ask(target, tt.body, "Content-Type: "+tt.kind, condition); r.status != tt.status {
			t.Errorf("%.60s as %q: %d %s", tt.body, tt.kind, r.status, r.body)
		}
	}
}
