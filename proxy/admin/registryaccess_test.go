package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/token"
)

const adminToken = "0123456789abcdef"

func locked(c *admin.Config) { c.Token = []byte(adminToken) }

// Authorization: with and without a token of administrators, by token and operation.
func TestDecisions(t *testing.T) {
	const there, socket = "Peer: 192.0.2.1:1", "Peer: @"
	for _, tt := range []struct {
		name   string
		locked bool
		peer   string
		bearer string // reader, writer, admin, limited, revoked, administrator, wrong, urnd_wrong; "" for none
		read   int    // GET of a name
		write  int    // PUT of a name
		prefix int    // PUT of a prefix
		other  int    // GET of the configuration
	}{
		{"no token is required", false, there, "", 200, 200, 201, 200},
		{"no token is required, and a reader's is shown", false, there, "reader", 200, 403, 403, 200},
		{"no token is required, and a writer's is shown", false, there, "writer", 200, 200, 403, 200},
		{"no token is required, and an admin's is shown", false, there, "admin", 200, 200, 201, 200},
		{"no token is required, and one for other names is shown", false, there, "limited", 403, 403, 403, 200},
		{"no token is required, and a revoked one is shown", false, there, "revoked", 401, 401, 401, 200},
		{"no token is required, and another one is shown", false, there, "wrong", 401, 401, 401, 200},
		{"no token is required, and a wrong one is shown", false, there, "urnd_wrong", 401, 401, 401, 200},
		{"none", true, there, "", 401, 401, 401, 401},
		{"a reader's", true, there, "reader", 200, 403, 403, 401},
		{"a writer's", true, there, "writer", 200, 200, 403, 401},
		{"an admin's", true, there, "admin", 200, 200, 201, 401},
		{"one for other names", true, there, "limited", 403, 403, 403, 401},
		{"a revoked one", true, there, "revoked", 401, 401, 401, 401},
		{"administrator token", true, there, "administrator", 200, 200, 201, 200},
		{"a wrong one", true, there, "wrong", 401, 401, 401, 401},
		{"a wrong one that looks right", true, there, "urnd_wrong", 401, 401, 401, 401},
		{"a socket", true, socket, "", 200, 200, 201, 200},
		{"a socket, and a reader's", true, socket, "reader", 200, 403, 403, 200},
		{"a socket, and a revoked one", true, socket, "revoked", 401, 401, 401, 200},
		{"from elsewhere", true, "Peer: 198.51.100.1:1", "admin", 403, 403, 403, 403},
		{"from elsewhere, with administrator token", true, "Peer: 198.51.100.1:1", "administrator", 403, 403, 403, 403},
	} {
		s := newSite(t, func(c *admin.Config) {
			if tt.locked {
				locked(c)
			}
		})
		if _, err := s.registry.Apply(t.Context(), registry.Actor{Role: registry.Admin}, registry.Edit{
			Key:    registry.Name("urn:nbn:fi:a"),
			Change: registry.Put(registry.Record{Status: registry.Reserved}),
		}); err != nil {
			t.Fatal(err)
		}
		fields := []string{tt.peer}
		switch tt.bearer {
		case "":
		case "reader":
			fields = append(fields, s.token(t, registry.Reader))
		case "writer":
			fields = append(fields, s.token(t, registry.Writer))
		case "admin":
			fields = append(fields, s.token(t, registry.Admin))
		case "limited":
			fields = append(fields, s.token(t, registry.Admin, "urn:nbn:at:"))
		case "revoked":
			field := s.token(t, registry.Admin)
			fields = append(fields, field)
			id := strings.TrimPrefix(field, "Authorization: Bearer urnd_")[:16]
			if _, err := token.Revoke(t.Context(), s.registry, registry.Actor{Role: registry.Admin}, id); err != nil {
				t.Fatal(err)
			}
		case "administrator":
			fields = append(fields, "Authorization: Bearer "+adminToken)
		default:
			fields = append(fields, "Authorization: Bearer "+tt.bearer)
		}
		got := [...]int{
			s.ask("GET "+of(names, "urn:nbn:fi:a"), "", fields...).status,
			s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"status":"reserved","contact":"c"}`,
				append(fields, "If-Match: *")...).status,
			s.ask("PUT "+of(prefixes, "urn:nbn:fi:p-"), `{}`, fields...).status,
			s.ask("GET /api/v1/config", "", fields...).status,
		}
		if want := [...]int{tt.read, tt.write, tt.prefix, tt.other}; got != want {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
	}
}

// Each operation requires its role, and a token for the names that it concerns.
func TestRolesOfOperations(t *testing.T) {
	s := newSite(t, locked)
	reader, writer, all := s.token(t, registry.Reader), s.token(t, registry.Writer), s.token(t, registry.Admin)
	limited := s.token(t, registry.Admin, "urn:nbn:at:")
	const name, prefix = "urn:nbn:fi:a", "urn:nbn:fi:p-"
	for _, tt := range []struct {
		request, body string
		least         registry.Role
	}{
		{"GET " + of(names, name), "", registry.Reader},
		{"GET " + names, "", registry.Reader},
		{"GET " + names + "?prefix=urn:nbn:", "", registry.Reader},
		{"GET " + of(names+"/history", name), "", registry.Reader},
		{"PUT " + of(names, name), "{}", registry.Writer},
		{"PATCH " + of(names, name), "{}", registry.Writer},
		{"POST " + of(names+"/withdraw", name), "{}", registry.Writer},
		{
			"POST " + names + "/supersede", `{"names":["` + name + `"],"successors":["urn:nbn:at:b"],"note":"n"}`,
			registry.Writer,
		},
		{"POST " + names + "/mint", `{"pattern":"urn:nbn:fi:m-{counter}"}`, registry.Writer},
		{"GET " + of(prefixes, prefix), "", registry.Reader},
		{"GET " + prefixes, "", registry.Reader},
		{"GET " + of(prefixes+"/history", prefix), "", registry.Reader},
		{"PUT " + of(prefixes, prefix), "{}", registry.Admin},
		{"PATCH " + of(prefixes, prefix), "{}", registry.Admin},
		{"POST " + of(prefixes+"/withdraw", prefix), "{}", registry.Admin},
		{"DELETE /api/v1/sandboxes?prefix=" + prefix, "", registry.Admin},
	} {
		for role, token := range map[registry.Role]string{
			registry.Reader: reader, registry.Writer: writer,
			registry.Admin: all,
		} {
			if r := s.ask(tt.request, tt.body, token); (r.status == 403) != (role < tt.least) || r.status == 401 ||
				r.status >= 500 {
				t.Errorf("%s as %s: %d %s", tt.request, role, r.status, r.body)
			}
		}
		if r := s.ask(tt.request, tt.body, limited); r.status != 403 {
			t.Errorf("%s for other names: %d %s", tt.request, r.status, r.body)
		}
	}
	if r := s.ask("GET "+names+"?prefix=urn:nbn:at:", "", limited); r.status != 200 {
		t.Errorf("its own names: %d %s", r.status, r.body)
	}
	if r := s.ask("PUT "+of(names, "urn:nbn:at:x"), `{"status":"reserved"}`, limited); r.status != 201 ||
		r.name(t).By != "admin one" {
		t.Errorf("its own name: %d %s", r.status, r.body)
	}
}

// Operations on the shared daemon are for administrators, not for tokens of the registry, whatever their
// role.
func TestTokensOfTheRegistryAreNoOperators(t *testing.T) {
	s := newSite(t, locked)
	token := s.token(t, registry.Admin)
	for _, request := range []string{
		"GET /status", "GET /debug/pprof/profile?seconds=1", "GET /debug/pprof/heap", "GET /metrics",
		"GET /api/v1/config",
		"DELETE /api/v1/cache/entries?uri=urn:nbn:fi:a", "DELETE /api/v1/responses?uri=http://example.org/",
	} {
		if r := s.ask(request, "", token); r.status != 401 && r.status != 403 {
			t.Errorf("%s: %d %s", request, r.status, r.body)
		}
	}
}

// A cross-site page can neither change anything through the browser of an authorized user, nor read anything
// through a host name of its own (DNS rebinding).
func TestCrossSite(t *testing.T) {
	s := newSite(t, nil)
	for _, field := range []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"} {
		if r := s.ask("PUT "+of(names, "urn:nbn:fi:a"), "{}", field); r.status != 403 {
			t.Errorf("%s: %d %s", field, r.status, r.body)
		}
	}
	if r := s.ask("GET "+names, "", "Host: evil.example"); r.status != 421 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := s.ask("GET "+names, "", "Via: 1.1 urnd"); r.status != 403 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Wrong tokens of any kind do not lock out right ones: administrators and programs often share an address.
func TestGuessesOfTokens(t *testing.T) {
	const get, here = "GET " + names, "Peer: 192.0.2.66:1"
	s := newSite(t, locked)
	reader := s.token(t, registry.Reader)
	near := strings.TrimPrefix(reader, "Authorization: Bearer ")[:token.PublicLength] + "_" + strings.Repeat("A", 43)
	for i := range 100 {
		for _, wrong := range []string{
			"wrong", "urnd_wrong",
			"urnd_0123456789abcdef_" + strings.Repeat("A", 43), near,
		} {
			if r := s.ask(get, "", here, "Authorization: Bearer "+wrong); r.status != 401 {
				t.Fatalf("%s: %d", wrong, r.status)
			}
		}
		for _, right := range []string{reader, "Authorization: Bearer " + adminToken} {
			if r := s.ask(get, "", here, right); r.status != 200 {
				t.Fatalf("%s after %d wrong ones: %d", right, i, r.status)
			}
		}
	}
}

// away is an unavailable store.
type away struct{ registry.Store }

func (away) Read(context.Context, func(registry.Tx) error) error {
	return fmt.Errorf("%w: it is away", registry.ErrUnavailable)
}

// While the store is unavailable, tokens are neither accepted nor rejected as wrong.
func TestTokensWithoutStore(t *testing.T) {
	s := newSiteOf(t, func(c *service.Config) { c.Registry = registryOn(c, away{}, time.Now) }, locked)
	secret := "urnd_0123456789abcdef_" + strings.Repeat("A", 43)
	for range 20 {
		if r := s.ask("GET "+names, "", "Authorization: Bearer "+secret); r.status != 503 ||
			r.header.Get("Retry-After") == "" {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
}

func TestWithoutRegistry(t *testing.T) {
	s := newSite(t, func(c *admin.Config) { locked(c); c.Registry = nil })
	for _, path := range []string{names, prefixes, "/api/v1/jobs", "/api/v1/sandboxes"} {
		if r := s.ask("GET "+path, "", "Authorization: Bearer "+adminToken); r.status != 404 ||
			!strings.Contains(r.body, "no registry is configured") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
		if r := s.ask("GET "+path, ""); r.status != 401 {
			t.Errorf("%s without a token: %d %s", path, r.status, r.body)
		}
	}
}

// The audit log contains the actor, the address and the request ID.
func TestAuditOfRequests(t *testing.T) {
	s := newSite(t, locked)
	token := s.token(t, registry.Writer)
	r := s.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"status":"reserved"}`, token, "Peer: 192.0.2.7:99",
		"X-Request-Id: chosen")
	if len(s.actors) != 1 {
		t.Fatalf("%d %s: %+v", r.status, r.body, s.actors)
	}
	a := s.actors[0]
	if a.Name != "writer one" || !strings.Contains(token,
		a.Token) || a.Client != "192.0.2.7" || a.Request != r.header.Get("X-Request-Id") || a.Request == "chosen" {
		t.Errorf("%+v", a)
	}
}

var errBug = errors.New("a bug in /home/urnd")

type broken struct{ registry.Store }

func (broken) Lookup(context.Context, registry.Key) (registry.Entry, error) {
	return registry.Entry{}, errBug
}

func TestInternalErrorIsHidden(t *testing.T) {
	s := newSiteOf(t, func(c *service.Config) { c.Registry = registryOn(c, broken{}, time.Now) }, nil)
	if r := s.ask("GET "+of(names, "urn:nbn:fi:a"), ""); r.status != http.StatusInternalServerError ||
		strings.Contains(r.body, "/home") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
