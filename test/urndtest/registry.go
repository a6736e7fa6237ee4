package urndtest

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Registry is a registry in a file, which a test changes like another process beside urnd. urnd detects a
// change within a second.
type Registry struct {
	*registry.Registry
	Path string // path of the file
}

// NewRegistry creates a registry for names with one of the prefixes only ("urn:" and "ark:/12345/" by default),
// and for those of purl.example, w3id.example, id.example (GS1) and dpp.example (data identifiers).
func NewRegistry(t testing.TB, only ...string) Registry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // a test may have closed it
	r := Registry{Path: path}
	return r.with(t, store, time.Now, only)
}

// For returns the same registry for other names and with another clock.
func (r Registry) For(t testing.TB, now func() time.Time, only ...string) Registry {
	t.Helper()
	return r.with(t, r.Store(), now, only)
}

func (r Registry) with(t testing.TB, store registry.Store, now func() time.Time, only []string) Registry {
	t.Helper()
	if len(only) == 0 {
		only = []string{"urn:", "ark:/12345/"}
	}
	names := namesOf(t, config.Registry{Owned: only, Hosts: []string{"purl.example", "w3id.example"}})
	r.Registry = registry.New(registry.Config{
		Store: store, Now: now, CanonicalPrefix: names.CanonicalPrefix, CheckLevel: names.CheckLevel,
		OwnedPrefixes: names.RegistryPrefixes(),
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(names.Identify(q))
			}
			return q.URI.String(), err
		},
	})
	return r
}

func namesOf(t testing.TB, c config.Registry) resolver.Names {
	t.Helper()
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	identifiers, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	var roots digitallink.Roots
	for _, of := range DigitalLinks() {
		scheme := of.Scheme
		if scheme == "" {
			scheme = config.SchemeGS1
		}
		root, err := digitallink.NewRoot(of.Root, digitallink.SchemeOf(scheme))
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
		c.DigitalLink = append(c.DigitalLink, of)
	}
	accept := config.Default().URN.Specs()
	return resolver.Names{
		Set: set, Accept: accept, Identifiers: identifiers,
		Roots: roots,
	}.WithOwnedPrefixes(c.NamePrefixes())
}

// DigitalLinks returns the settings for the identifiers in web addresses of NewRegistry.
func DigitalLinks() []config.DigitalLink {
	return []config.DigitalLink{
		{
			Root: "https://id.example/", Name: "The resolver of Example Ltd", Contact: "Example Ltd",
			Terms: "https://example.org/terms", Contexts: []string{"DE", "FR"},
		},
		{Root: "https://dpp.example/", Scheme: "data-identifiers"},
	}
}

// Put sets the record of a key.
func (r Registry) Put(t testing.TB, key registry.Key, record registry.Record) {
	t.Helper()
	r.Edit(t, registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: registry.Put(record)})
}

// Edit makes changes as an administrator.
func (r Registry) Edit(t testing.TB, edits ...registry.Edit) {
	t.Helper()
	if _, err := r.Apply(t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edits...); err != nil {
		t.Fatal(err)
	}
}

// Targets returns targets without properties.
func Targets(uris ...string) (all []registry.Target) {
	for _, u := range uris {
		all = append(all, registry.Target{URI: u})
	}
	return all
}

// Start runs urnd with the registry and without a responding DNS server.
func (r Registry) Start(t testing.TB, change func(*config.Config)) *Daemon {
	t.Helper()
	return Start(t, "127.0.0.1:1", func(c *config.Config) {
		c.Registry.Store = "sqlite:" + r.Path
		c.DDDS.Enabled = false
		if change != nil {
			change(c)
		}
	})
}

// Target returns the target to which a name is redirected, or the text of the status.
func (d *Daemon) Target(t testing.TB, name string) string {
	t.Helper()
	a := d.Get(t, "/"+name)
	if a.Location != "" {
		return a.Location
	}
	return http.StatusText(a.Status)
}

// Change sends a request "METHOD TARGET" to the registry API, which must succeed.
func (d *Daemon) Change(t testing.TB, request, contentType, body string) {
	t.Helper()
	method, target, _ := strings.Cut(request, " ")
	a := Send(t, method+" "+d.Admin+target, body, "Content-Type: "+contentType)
	if a.Status >= http.StatusMultipleChoices {
		t.Fatalf("%s: %d %s", request, a.Status, a.Body)
	}
}
