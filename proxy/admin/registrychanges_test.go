package admin_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

const (
	changes  = "/api/v1/registry/changes"
	versions = "/api/v1/registry/versions"
)

// feed is a page of change sets or of events.
type feed struct {
	Changes []registry.ChangeSet `json:"changes"`
	Events  []struct {
		Seq      registry.Seq    `json:"seq"`
		Set      registry.Seq    `json:"set"`
		Kind     string          `json:"kind"`
		Name     string          `json:"name"`
		Version  json.RawMessage `json:"version"`
		Versions []registry.Seq  `json:"versions"`
		By       string          `json:"by"`
		Note     string          `json:"note"`
	} `json:"events"`
	Next string `json:"next"`
	More bool   `json:"more"`
}

func (s *site) feed(t *testing.T, target string, fields ...string) (page feed) {
	t.Helper()
	r := s.ask("GET "+target, "", fields...)
	if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
		t.Fatalf("%s: %d %s", target, r.status, r.body)
	}
	if page.More != (nextOf(r) != "") {
		t.Errorf("%s: more is %t, and the link %q", target, page.More, r.header.Get("Link"))
	}
	return page
}

// numbersOf returns the numbers of the change sets of a selection, over all pages.
func (s *site) numbersOf(t *testing.T, selection string, fields ...string) (numbers string, next string) {
	t.Helper()
	for more, cursor := true, ""; more; {
		page := s.feed(t, changes+"?"+selection+"&cursor="+cursor, fields...)
		for _, set := range page.Changes {
			numbers += fmt.Sprint(set.Number, " ")
		}
		more, cursor, next = page.More, page.Next, page.Next
	}
	return strings.TrimSpace(numbers), next
}

func TestChangeSets(t *testing.T) {
	s := newSite(t, nil)
	for i := range 4 {
		s.put(t, fmt.Sprintf("urn:nbn:fi:a-%d", i), `{"status":"reserved","note":"new"}`)
	}
	s.put(t, "urn:nbn:at:b", `{"status":"reserved"}`)
	limited := s.token(t, registry.Reader, "urn:nbn:fi:")
	for _, tt := range []struct{ selection, want string }{
		{"", "1 2 3 4 5"},
		{"limit=2", "1 2 3 4 5"},
		{"limit=1&prefix=URN:NBN:fi:", "1 2 3 4"},
		{"prefix=urn:nbn:fi:a-3", "4"},
		{"by=admin", "1 2 3 4 5"},
		{"by=nobody", ""},
		{"since=2001-01-01&until=2001-01-02", ""},
		{"since=2001-01-01", "1 2 3 4 5"},
		{"since=" + url.QueryEscape("2001-01-01T00:00:00Z"), "1 2 3 4 5"},
	} {
		if got, _ := s.numbersOf(t, tt.selection); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.selection, got, tt.want)
		}
	}
	if got, _ := s.numbersOf(t, "prefix=urn:nbn:fi:", limited); got != "1 2 3 4" {
		t.Errorf("with a token for these: %s", got)
	}
	for target, status := range map[string]int{
		changes: 403, changes + "?prefix=urn:nbn:": 403, changes + "?set=5": 403, versions: 403,
		versions + "?prefix=urn:nbn:at:": 403, changes + "?set=1&prefix=urn:nbn:fi:": 200,
		versions + "?prefix=urn:nbn:fi:": 200,
	} {
		if r := s.ask("GET "+target, "", limited); r.status != status || strings.Contains(r.body, "urn:nbn:at:b") {
			t.Errorf("%s with a token for others: %d %s", target, r.status, r.body)
		}
	}
	if page := s.feed(t, changes+"?set=5&prefix=urn:nbn:fi:", limited); len(page.Events) != 0 {
		t.Errorf("of a set of others: %+v", page)
	}
	for target, status := range map[string]int{
		changes + "?set=0": 400, changes + "?set=x": 400, changes + "?set=9": 404, changes + "?set=1&by=a": 400,
		changes + "?since=x": 400, changes + "?until=x": 400, changes + "?cursor=LTE": 400, changes + "?cursor=!": 400,
		changes + "?limit=0": 400,
		versions + "?set=1":  400,
		changes + "?a=b":     400,
	} {
		if r := s.ask("GET "+target, ""); r.status != status {
			t.Errorf("%s: %d %s", target, r.status, r.body)
		}
	}
	// A cursor stays valid for later changes.
	_, next := s.numbersOf(t, "")
	s.put(t, "urn:nbn:at:c", `{"status":"reserved"}`)
	if page := s.feed(t, changes+"?cursor="+next); len(page.Changes) != 1 || page.Changes[0].Number != 6 {
		t.Errorf("what came later is %+v", page)
	}
}

// The list of all versions includes purges and redactions.
func TestRegistryVersions(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/secret"}]}`)
	s.ask("PATCH "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/"}]}`)
	s.ask("PUT "+of(prefixes, "urn:nbn:fi:test-"), `{"sandbox":true,"authoritative":true}`)
	s.put(t, "urn:nbn:fi:test-1", `{"status":"reserved"}`)
	admin := registry.Actor{Name: "anna", Role: registry.Admin}
	if _, err := s.registry.Redact(t.Context(), admin, registry.Name("urn:nbn:fi:a"), []int{1},
		"by request"); err != nil {
		t.Fatal(err)
	}
	if r := s.ask("DELETE /api/v1/sandboxes?prefix=urn:nbn:fi:&note=over", ""); r.status != 200 {
		t.Fatal(r.body)
	}
	var got []string
	for more, cursor := true, ""; more; {
		page := s.feed(t, versions+"?limit=2&cursor="+cursor)
		for _, e := range page.Events {
			if strings.Contains(string(e.Version), "secret") {
				t.Errorf("the redacted text is in %s", e.Version)
			}
			got = append(got, fmt.Sprintf("%d of %d: %s %s %v %s %s", e.Seq, e.Set, e.Kind, e.Name, e.Versions,
				e.By, e.Note))
		}
		more, cursor = page.More, page.Next
	}
	want := []string{
		"1 of 1: version urn:nbn:fi:a []  ", "2 of 2: version urn:nbn:fi:a []  ",
		"5 of 5: redaction urn:nbn:fi:a [1] anna by request", "6 of 6: purge urn:nbn:fi:test-1 [4] admin over",
		"7 of 6: purge urn:nbn:fi:test- [3] admin over",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the events are\n%s", strings.Join(got, "\n"))
	}
	if page := s.feed(t, changes+"?set=6"); len(page.Events) != 2 || page.Events[0].Seq != 6 {
		t.Errorf("the set of the purge: %+v", page)
	}
}
