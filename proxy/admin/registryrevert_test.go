package admin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

const revert = changes + "/revert"

// revertReport is the report of a revert.
type revertReport struct {
	Set         registry.Seq `json:"set"`
	DryRun      bool         `json:"dry_run"`
	Names       int64        `json:"names"`
	Conflicts   int64        `json:"conflicts"`
	Differences []struct {
		Name string `json:"name"`
	} `json:"differences"`
	Rejected []struct {
		Name string `json:"name"`
	} `json:"rejected"`
}

func (r reply) reverted(t *testing.T) (document revertReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &document); err != nil || r.status != 200 {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return document
}

func TestRevert(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	s.put(t, "urn:nbn:fi:b", `{"targets":[{"uri":"https://a.example/b"}]}`)
	// This is change set 3.
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/2"}]}`, `If-Match: "1"`)
	body := `{"set":3,"note":"wrong"}`
	dry := s.ask("POST "+revert+"?dry_run=true", body).reverted(t)
	if dry.Names != 1 || dry.Set != 0 || !dry.DryRun || len(dry.Differences) != 1 ||
		dry.Differences[0].Name != "urn:nbn:fi:a" {
		t.Errorf("dry: %+v", dry)
	}
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t); n.Version != 2 {
		t.Errorf("a dry run has written %+v", n)
	}
	done := s.ask("POST "+revert, body).reverted(t)
	if done.Names != 1 || done.Set != 4 || done.DryRun || done.Conflicts != 0 {
		t.Errorf("%+v", done)
	}
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t); n.Version != 3 ||
		n.Targets[0].URI != "https://a.example/1" || n.Note != "wrong" {
		t.Errorf("%+v", n)
	}
	first := s.ask("POST "+revert+"?dry_run=true", `{"set":1,"note":"wrong"}`).reverted(t)
	if first.Names != 0 || first.Conflicts != 1 || len(first.Rejected) != 1 ||
		first.Rejected[0].Name != "urn:nbn:fi:a" {
		t.Errorf("changed since: %+v", first)
	}
	for body, want := range map[string]int{
		`{"set":3}`: 422, `{"set":0,"note":"a"}`: 422, `{"set":99,"note":"a"}`: 404, `{"set":"3","note":"a"}`: 422,
		`{"set":3,"note":"a","all":true}`: 422, `{`: 400,
	} {
		if r := s.ask("POST "+revert, body); r.status != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if r := s.ask("POST "+revert+"?dry_run=1", body); r.status != 400 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Denied reverts: a change set may contain any names.
func TestRevertRights(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	for _, tt := range []struct {
		role     registry.Role
		prefixes []string
		want     int
	}{
		{registry.Reader, nil, 403},
		{registry.Writer, nil, 403},
		{registry.Admin, []string{"urn:nbn:fi:"}, 403},
		{registry.Admin, nil, 200},
	} {
		field := s.token(t, tt.role, tt.prefixes...)
		for _, target := range []string{"?dry_run=true", ""} {
			if r := s.ask("POST "+revert+target, `{"set":1,"note":"wrong"}`, field); r.status != tt.want {
				t.Errorf("%s of %q: %d %s", tt.role, tt.prefixes, r.status, r.body)
			}
		}
	}
}

// A large change set can only be reverted by the command.
func TestRevertOfManyNames(t *testing.T) {
	s := newSite(t, nil)
	const n = 10_001
	_, err := s.registry.Change(t.Context(), registry.Actor{Name: "root", Role: registry.Admin},
		func(_ registry.WriteTx, w *registry.Batch) error {
			for i := range n {
				if _, _, err := w.Put(registry.Name(fmt.Sprintf("urn:nbn:fi:x%05d", i)),
					registry.Record{Targets: []registry.Target{{URI: "https://a.example/"}}}, ""); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.ask("POST "+revert, `{"set":1,"note":"wrong"}`); r.status != 422 ||
		!strings.Contains(r.body, "urnd registry revert 1") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A dry run of a change returns the result, with all checks of the change, and writes nothing.
func TestDryRunOfChange(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	for _, tt := range []struct {
		request, body string
		fields        []string
		status        int
		want          string
	}{
		{
			"PUT " + of(names, "URN:NBN:fi:a"), `{"targets":[{"uri":"https://a.example/2"}]}`,
			[]string{`If-Match: "1"`},
			200, `"version": 2`,
		},
		{
			"PUT " + of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/1"}]}`,
			[]string{`If-Match: "1"`},
			200, `"version": 1`,
		},
		{
			"PUT " + of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/2"}]}`,
			[]string{`If-Match: "7"`},
			412, "",
		},
		{"PUT " + of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/2"}]}`, nil, 428, ""},
		{
			"PUT " + of(names, "urn:nbn:fi:b"), `{"targets":[{"uri":"https://a.example/2"}]}`,
			[]string{`If-None-Match: *`},
			200, `"name": "urn:nbn:fi:b"`,
		},
		{"PUT " + of(names, "urn:nbn:fi:b"), `{}`, nil, 422, "active name without a target"},
		{"PUT " + of(names, "urn:nbn:fi:b"), `{"targets":[{"uri":"javascript:alert(1)"}]}`, nil, 422, ""},
		{"PATCH " + of(names, "urn:nbn:fi:a"), `{"contact":"mailto:a@a.example"}`, nil, 200, "mailto:a@a.example"},
		{"POST " + names + "/withdraw?uri=urn:nbn:fi:a", `{"reason":"merged"}`, nil, 200, `"status": "withdrawn"`},
		{"POST " + names + "/withdraw?uri=urn:nbn:fi:a", `{"reason":""}`, nil, 422, "requires a reason"},
	} {
		target := tt.request + "&dry_run=true"
		if r := s.ask(target, tt.body, tt.fields...); r.status != tt.status || !strings.Contains(r.body, tt.want) ||
			r.header.Get("Location") != "" {
			t.Errorf("%s %s: %d %s", target, tt.body, r.status, r.body)
		}
	}
	if n := s.ask("GET "+of(names, "urn:nbn:fi:a"), "").name(t); n.Version != 1 || len(s.audited) != 1 {
		t.Errorf("a dry run has written %+v, %v", n, s.audited)
	}
	if r := s.ask("GET "+of(names, "urn:nbn:fi:b"), ""); r.status != 404 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Change sets are ordered newest first on request, over all pages.
func TestNewestChangeSets(t *testing.T) {
	s := newSite(t, nil)
	for i := range 5 {
		s.put(t, fmt.Sprintf("urn:nbn:fi:%d", i), `{"targets":[{"uri":"https://a.example/1"}]}`)
	}
	for _, tt := range []struct{ selection, want string }{
		{"order=newest", "5 4 3 2 1"},
		{"order=newest&limit=2", "5 4 3 2 1"},
		{"order=oldest&limit=2", "1 2 3 4 5"},
		{"order=newest&prefix=urn:nbn:fi:3", "4"},
		{"order=newest&by=nobody", ""},
		{"order=newest&limit=5", "5 4 3 2 1"},
	} {
		if got, _ := s.numbersOf(t, tt.selection); got != tt.want {
			t.Errorf("%s: %q", tt.selection, got)
		}
	}
	for _, target := range []string{"?order=best", "?set=1&order=newest"} {
		if r := s.ask("GET "+changes+target, ""); r.status != 400 {
			t.Errorf("%s: %d", target, r.status)
		}
	}
	var all []registry.Seq
	err := s.registry.ChangeSetsBefore(t.Context(), 3,
		func(set registry.ChangeSet) bool { all = append(all, set.Number); return true })
	if err != nil || !slices.Equal(all, []registry.Seq{2, 1}) {
		t.Errorf("%v, %v", all, err)
	}
}

// A version of a name is returned by its number.
func TestVersionOfName(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, "urn:nbn:fi:a", `{"targets":[{"uri":"https://a.example/1"}]}`)
	s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/2"}]}`, `If-Match: "1"`)
	for query, want := range map[string]int{
		"&version=1": 200, "&version=2": 200, "&version=3": 404, "&version=0": 400, "&version=x": 400,
		"&version=1&at=2031-05-01": 400,
	} {
		r := s.ask("GET "+of(names, "urn:nbn:fi:a")+query, "")
		if r.status != want || want == 200 && !strings.HasSuffix(query, fmt.Sprint(r.name(t).Version)) {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	if r := s.ask("GET "+names+"?version=1", ""); r.status != 400 {
		t.Errorf("a version of a list: %d", r.status)
	}
}
