package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/editor"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/resolver/registry/token"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// site is the admin interface of a registry.
type site struct {
	*admin.Handler
	registry *registry.Registry

	mu      sync.Mutex
	audited []registry.Changed
	actors  []registry.Actor
}

type noCaches struct{}

func (noCaches) Stats() any                          { return map[string]any{} }
func (noCaches) Lookup(uri.URI) ([]api.Entry, error) { return nil, nil }
func (noCaches) Purge(context.Context, resolver.Selection, bool) (int, error) {
	return 0, errors.New("there is no cache")
}

// newSite returns a site with a modified configuration.
func newSite(t *testing.T, change func(*admin.Config)) *site {
	t.Helper()
	return newSiteOf(t, func(*service.Config) {}, change)
}

// registryOn returns the registry of a configuration with another store and clock.
func registryOn(c *service.Config, store registry.Store, now func() time.Time) *registry.Registry {
	return registry.New(registry.Config{
		Store: store, Now: now, Canonical: c.Registry.Canonical, CanonicalPrefix: c.Registry.CanonicalPrefix,
	})
}

// newSiteOf is newSite with a modified service of the registry.
func newSiteOf(t *testing.T, does func(*service.Config), change func(*admin.Config)) *site {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	s, names := &site{}, resolver.Names{Set: set}
	s.registry = registry.New(registry.Config{
		Store: store, Now: time.Now, CanonicalPrefix: names.CanonicalPrefix,
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(q)
			}
			return q.URI.String(), err
		},
		Audit: func(_ context.Context, actor registry.Actor, changes []registry.Changed) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audited, s.actors = append(s.audited, changes...), append(s.actors, actor)
		},
	})
	what := service.Config{Registry: s.registry}
	does(&what)
	config := admin.Config{
		Clients: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")},
		Log:     slog.New(slog.DiscardHandler), Metrics: http.NotFoundHandler(), Sessions: session.New(time.Now),
		Settings: admin.Settings{Values: func() any { return map[string]any{} }}, Caches: noCaches{},
		Health:   func() (unready, degraded []string) { return nil, nil },
		Registry: &admin.Registry{Service: service.New(what), Drafts: editor.NewDrafts(t.TempDir(), time.Now)},
		Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) },
	}
	if change != nil {
		change(&config)
	}
	s.Handler = admin.New(config)
	return s
}

// token returns the header field with a new token.
func (s *site) token(t *testing.T, role registry.Role, prefixes ...string) string {
	t.Helper()
	_, secret, err := token.Create(t.Context(), s.registry, registry.Actor{Role: registry.Admin}, token.Token{
		Name: role.String() + " one", Role: role,
		Prefixes: prefixes,
	})
	if err != nil {
		t.Fatal(err)
	}
	return "Authorization: Bearer " + secret
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
}

// name returns the document of a name.
func (r reply) name(t *testing.T) (n api.Name) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &n); err != nil {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return n
}

// ask sends a request "METHOD TARGET" with a JSON body and header fields "Name: value". The pseudo-field
// "Peer" is the address of the client.
func (s *site) ask(request, body string, fields ...string) reply {
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host, r.RemoteAddr = "127.0.0.1:8142", "127.0.0.1:1"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	for _, field := range fields {
		switch name, value, _ := strings.Cut(field, ": "); name {
		case "Peer":
			r.RemoteAddr = value
		case "Host":
			r.Host = value
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	return reply{w.Code, w.Header(), string(text)}
}

// of returns the target of the request for a name.
func of(path, name string) string { return path + "?uri=" + url.QueryEscape(name) }

const names, prefixes = "/api/v1/names", "/api/v1/prefixes"

// put registers a new name.
func (s *site) put(t *testing.T, name, body string) {
	t.Helper()
	if r := s.ask("PUT "+of(names, name), body); r.status != 201 {
		t.Fatalf("%s: %d %s", name, r.status, r.body)
	}
}

func TestPutAndGet(t *testing.T) {
	s := newSite(t, nil)
	const body = `{"targets":[{"uri":"https://a.example/1","language":"fi"}],"metadata":{"title":"A"},"note":"first"}`
	r := s.ask("PUT "+of(names, "URN:NBN:fi:a"), body)
	if r.status != 201 || r.header.Get("Location") != of(names, "urn:nbn:fi:a") || r.header.Get("ETag") != `"1"` {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	if n := r.name(t); n.Name != "urn:nbn:fi:a" || n.Version != 1 || n.By != "admin" || n.Note != "first" {
		t.Errorf("%+v", n)
	}
	got := s.ask("GET "+of(names, "urn:NBN:FI:a"), "")
	if got.status != 200 || got.body != r.body || got.header.Get("ETag") != `"1"` ||
		got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	head := s.ask("HEAD "+of(names, "urn:nbn:fi:a"), "")
	if head.status != 200 || head.body != "" || head.header.Get("ETag") != `"1"` {
		t.Errorf("HEAD: %+v", head)
	}
	// A response can be edited and put back.
	again := s.ask("PUT "+of(names, "urn:nbn:fi:a"), strings.Replace(got.body, "/1", "/2", 1), `If-Match: "1"`)
	if again.status != 200 || again.header.Get("ETag") != `"2"` ||
		again.name(t).Targets[0].URI != "https://a.example/2" {
		t.Errorf("%d %s", again.status, again.body)
	}
	// An equal document makes no new version.
	same := s.ask("PUT "+of(names, "urn:nbn:fi:a"), again.body, `If-Match: *`)
	if same.status != 200 || same.header.Get("ETag") != `"2"` {
		t.Errorf("%d %s", same.status, same.body)
	}
	if id := got.header.Get("X-Request-Id"); len(id) != 16 {
		t.Errorf("the request has the identifier %q", id)
	}
}

// RFC 9110 sections 13.1 and 15.5.13, RFC 6585 section 3.
func TestConditions(t *testing.T) {
	const name = "urn:nbn:fi:a"
	for _, tt := range []struct {
		request, field string
		exists         bool
		status         int
	}{
		{"PUT", "", false, 201},
		{"PUT", "", true, 428},
		{"PUT", "If-None-Match: *", false, 201},
		{"PUT", "If-None-Match: *", true, 412},
		{"PUT", `If-None-Match: "7"`, true, 200},
		{"PUT", `If-None-Match: W/"1"`, true, 412},
		{"PUT", "If-Match: *", false, 412},
		{"PUT", "If-Match: *", true, 200},
		{"PUT", `If-Match: "1"`, true, 200},
		{"PUT", `If-Match: "1"`, false, 412},
		{"PUT", `If-Match: "0"`, false, 412},
		{"PUT", `If-Match: "2"`, true, 412},
		{"PUT", `If-Match: "7", "1"`, true, 200},
		{"PUT", `If-Match: W/"1"`, true, 412},
		{"PUT", `If-Match: 1`, true, 400},
		{"PUT", `If-Match: `, true, 400},
		{"PATCH", "", false, 404},
		{"PATCH", "", true, 200},
		{"PATCH", `If-Match: "1"`, true, 200},
		{"PATCH", `If-Match: "2"`, true, 412},
		{"GET", "", false, 404},
		{"GET", `If-None-Match: "1"`, true, 304},
		{"GET", `If-None-Match: "7", W/"1"`, true, 304},
		{"GET", `If-None-Match: *`, true, 304},
		{"GET", `If-None-Match: "2"`, true, 200},
		{"GET", `If-Match: "2"`, true, 412},
	} {
		s := newSite(t, nil)
		if tt.exists {
			s.put(t, name, `{"targets":[{"uri":"https://a.example/"}]}`)
		}
		body, fields := `{"targets":[{"uri":"https://b.example/"}]}`, []string(nil)
		if tt.request == "GET" {
			body = ""
		}
		if tt.field != "" {
			fields = []string{tt.field}
		}
		if r := s.ask(tt.request+" "+of(names, name), body, fields...); r.status != tt.status ||
			r.status == 304 && (r.body != "" || r.header.Get("ETag") != `"1"`) {
			t.Errorf("%s with %q, %v: %d %s", tt.request, tt.field, tt.exists, r.status, r.body)
		}
	}
}

// Of concurrent changes of one version one succeeds, and the others fail.
func TestConcurrentPuts(t *testing.T) {
	s := newSite(t, nil)
	const name, clients = "urn:nbn:fi:a", 8
	s.put(t, name, `{"status":"reserved"}`)
	statuses := make([]int, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			body := `{"targets":[{"uri":"https://a.example/` + string(rune('a'+i)) + `"}]}`
			statuses[i] = s.ask("PUT "+of(names, name), body, `If-Match: "1"`).status
		})
	}
	all.Wait()
	count := make(map[int]int)
	for _, status := range statuses {
		count[status]++
	}
	if count[200] != 1 || count[412] != clients-1 {
		t.Errorf("%v", count)
	}
	if n := s.ask("GET "+of(names, name), "").name(t); n.Version != 2 {
		t.Errorf("%+v", n)
	}
}

func TestPatch(t *testing.T) {
	s := newSite(t, nil)
	const name = "urn:nbn:fi:a"
	s.put(t, name,
		`{"targets":[{"uri":"https://a.example/1"},{"uri":"https://a.example/2"}],"metadata":{"title":"A","big":12345678901234567890,"in":{"a":1,"b":2}},"contact":"c","note":"first"}`)
	for _, tt := range []struct {
		patch, want string
		status      int
	}{
		{
			`{"metadata":{"in":{"a":null,"c":[1]},"title":"B"},"note":"second"}`,
			`{"title":"B","big":12345678901234567890,"in":{"b":2,"c":[1]}} c second`, 200,
		},
		{`{"contact":null}`, `{"title":"B","big":12345678901234567890,"in":{"b":2,"c":[1]}}  `, 200},
		{`{"metadata":null,"contact":"d"}`, ` d `, 200},
		{`{"targets":[]}`, "", 422}, // an active name needs a target
		{`{"note":"alone"}`, ` d alone`, 200},
		{`{"contact":"e","contact":"f"}`, "", 422},
		{`{"metadata":{"a":1,"a":2}}`, "", 422},
		{`{"Status":"withdrawn"}`, "", 422}, // encoding/json ignores case
		{`{"state":"withdrawn"}`, "", 422},
		{`{"name":"urn:nbn:fi:b"}`, "", 422},
		{`{"prefix":true}`, "", 422},
		{`{"note":1}`, "", 422},
		{`{"targets":{}}`, "", 422},
		{`{"targets":[{"uri":"javascript:alert(1)"}]}`, "", 422},
		{`[]`, "", 422},
		{`null`, "", 422},
		{`{`, "", 400},
	} {
		r := s.ask("PATCH "+of(names, name), tt.patch)
		if r.status != tt.status {
			t.Errorf("%s: %d %s", tt.patch, r.status, r.body)
			continue
		}
		if r.status != 200 {
			continue
		}
		n := r.name(t)
		if got := n.Metadata + " " + n.Contact + " " + n.Note; got != tt.want {
			t.Errorf("%s: %s", tt.patch, got)
		}
	}
	if n := s.ask("GET "+of(names, name), "").name(t); len(n.Targets) != 2 || n.Version != 5 {
		t.Errorf("%+v", n)
	}
}

// TestPatchOfOtherMembers checks that a patch leaves the text of metadata unchanged, and makes no version if it
// changes nothing.
func TestPatchOfOtherMembers(t *testing.T) {
	s := newSite(t, nil)
	const name, metadata = "urn:nbn:fi:a", `{"title":"A & B <C>\u2028","b":{"y":1,"x":2}}`
	s.put(t, name, `{"targets":[{"uri":"https://a.example/1"}],"metadata":`+metadata+`,"contact":"c"}`)
	for _, patch := range []string{`{"contact":"c"}`, `{"targets":[{"uri":"https://a.example/1"}]}`} {
		if n := s.ask("PATCH "+of(names, name), patch).name(t); n.Version != 1 || n.Metadata != metadata {
			t.Errorf("%s: version %d with %s", patch, n.Version, n.Metadata)
		}
	}
	n := s.ask("PATCH "+of(names, name), `{"metadata":{"b":{"z":"<"},"c":{"d":null}}}`).name(t)
	if want := `{"title":"A & B <C>\u2028","b":{"y":1,"x":2,"z":"<"},"c":{}}`; n.Metadata != want {
		t.Errorf("merged: %s, want %s", n.Metadata, want)
	}
}

// TestYears checks that times whose year has no four digits in UTC are refused: documents with them could not be
// written, neither those of the name and its token nor any list that contains them.
func TestYears(t *testing.T) {
	s := newSite(t, nil)
	for _, member := range []string{
		`"until":"9999-12-31T23:59:59-23:00"`, `"from":"9999-12-31T23:59:59-23:00"`,
		`"from":"0000-01-01T00:00:00+23:00"`,
	} {
		r := s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/1",`+member+`}]}`)
		if r.status != 422 || !strings.Contains(r.body, `"time_malformed"`) {
			t.Errorf("%s: %d %s", member, r.status, r.body)
		}
	}
	s.put(t, "urn:nbn:fi:b", `{"targets":[{"uri":"https://a.example/1","until":"9999-12-31T23:59:59Z"}]}`)
	if r := s.ask("POST /api/v1/tokens",
		`{"name":"a","role":"reader","expires":"9999-12-31T23:59:59-23:00"}`); r.status != 422 {
		t.Errorf("a token: %d %s", r.status, r.body)
	}
	for _, path := range []string{names, "/api/v1/tokens"} {
		if r := s.ask("GET "+path, ""); r.status != 200 || len(r.body) < 10 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
}

func TestWithdrawAndSupersede(t *testing.T) {
	s := newSite(t, nil)
	for _, name := range []string{"urn:nbn:fi:a", "urn:nbn:fi:b", "urn:nbn:fi:c"} {
		s.put(t, name, `{"targets":[{"uri":"https://a.example/"}]}`)
	}
	r := s.ask("POST "+of(names+"/withdraw", "urn:nbn:fi:a"),
		`{"reason":"lost","successors":["URN:nbn:FI:b"],"note":"n"}`, `If-Match: "1"`)
	if n := r.name(t); r.status != 200 || n.Status != registry.Withdrawn || n.Reason != "lost" ||
		len(n.Successors) != 1 || n.Successors[0] != "urn:nbn:fi:b" || n.Note != "n" {
		t.Errorf("%d %s", r.status, r.body)
	}
	r = s.ask("POST "+names+"/supersede",
		`{"names":["urn:nbn:fi:b","urn:nbn:fi:c"],"successors":["urn:nbn:fi:d","urn:nbn:fi:e"],"reason":"split","note":"board"}`)
	var page api.NamePage
	if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 || len(page.Names) != 2 ||
		len(page.Names[1].Successors) != 2 {
		t.Errorf("%d %s", r.status, r.body)
	}
	for request, body := range map[string]string{
		of(names+"/withdraw", "urn:nbn:fi:none"): `{}`,
		of(names+"/withdraw", "urn:nbn:fi:c"):    `{"why":"x"}`,
		names + "/supersede":                     `{"names":["urn:nbn:fi:b"],"successors":["urn:nbn:fi:d"]}`,
		names + "/supersede?uri=urn:a:b":         `{}`,
		names + "/withdraw":                      `{}`,
	} {
		if r := s.ask("POST "+request, body); r.status < 400 || r.status > 422 {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
	// One failure undoes the whole batch.
	r = s.ask("POST "+names+"/supersede",
		`{"names":["urn:nbn:fi:c","urn:nbn:fi:none"],"successors":["urn:nbn:fi:x"],"note":"n"}`)
	if n := s.ask("GET "+of(names, "urn:nbn:fi:c"), "").name(t); r.status != 404 || n.Version != 2 {
		t.Errorf("%d, %+v", r.status, n)
	}
	if r := s.ask("DELETE "+of(names, "urn:nbn:fi:a"), ""); r.status != 405 || !strings.Contains(r.body,
		"withdraw") || r.header.Get("Allow") != "GET, HEAD, PUT, PATCH" {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
}
