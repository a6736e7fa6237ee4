package main

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// ownSchemes are what names begin with in these tests, of which one is not written as names are.
var ownSchemes = []string{"urn:", "ark:12345/", "doi:10.12345/", "hdl:20.500.12345/"}

// unfolded returns the same registry as urnd had it before schemes but "urn" had rules by which more names are equal.
func (r siteRegistry) unfolded() siteRegistry {
	plain := func(text string) (string, error) {
		u, err := uri.Parse(text)
		return u.NormalizeSteps(uri.AllSteps &^ uri.SchemeForm).String(), err
	}
	r.Registry = registry.New(registry.Config{Store: r.Store(), Now: time.Now, Canonical: plain, CanonicalPrefix: plain})
	return r
}

// folded returns the registry of a store with the names of these tests.
func (r siteRegistry) folded(t *testing.T) siteRegistry {
	t.Helper()
	c := config.Default()
	c.Registry.Only = ownSchemes
	names, err := namesOf(c)
	if err != nil {
		t.Fatal(err)
	}
	r.Registry = newRegistry(r.Store(), names, time.Now, nil)
	return r
}

// Each spelling of an ARK, a DOI and a handle is the same name for the daemon, urnd resolve and urnd registry test: also in the URL of
// another resolver, unless it is forwarded.
func TestOneName(t *testing.T) {
	r := newSiteRegistry(t).folded(t)
	r.put(t, registry.Name("ark:12345/x-1"), registry.Record{Targets: targets("https://a.example/x")})
	r.put(t, registry.Name("doi:10.12345/ABC"), registry.Record{Targets: targets("https://a.example/d")})
	r.put(t, registry.Name("hdl:20.500.12345/Abc"), registry.Record{Targets: targets("https://a.example/h")})
	r.put(t, registry.Prefix("ark:/12345/p/"), registry.Record{Targets: targets("https://a.example/p/")})
	w := startWithRegistry(t, r, func(c *config.Config) { c.Registry.Only = ownSchemes })
	t.Setenv("URND_REGISTRY_STORE", "sqlite:"+r.path)
	t.Setenv("URND_REGISTRY_ONLY", strings.Join(ownSchemes, ","))
	t.Setenv("URND_DDDS_ENABLED", "false")
	for name, want := range map[string]string{
		"ark:/12345/x1": "https://a.example/x", "ark:12345/x1": "https://a.example/x", "ark:/12345/x-1": "https://a.example/x",
		"ARK:/12345/x%2D1": "https://a.example/x", "ark:/12345/x1/": "https://a.example/x", "ark:/12345/x1.": "https://a.example/x",
		"https://n2t.net/ark:/12345/x-1":  "https://a.example/x",
		"http://any.example/ark:12345/x1": "https://a.example/x", "ark:/12345/X1": "Not Found",
		"doi:10.12345/abc": "https://a.example/d", "DOI:10.12345/aBC": "https://a.example/d",
		"HDL:20.500.12345/Abc": "https://a.example/h", "hdl:20.500.12345/abc": "Not Found",
		"ark:/12345/p/a-b": "https://a.example/p/a-b", "ark:12345/p/a%2Db?q": "https://a.example/p/a-b?q",
		"ark:/12345/none": "Not Found",
	} {
		if got := w.leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
		out, err := run(t, "", "resolve", "--config=", name)
		if got := strings.TrimSpace(out); got != want && (want != "Not Found" || err == nil) {
			t.Errorf("urnd resolve %s: %s, %v, want %s", name, got, err, want)
		}
		line := name + "," + want + "\n"
		if want == "Not Found" {
			line = name + ",,missing\n"
		}
		if out, err := run(t, line, "registry", "test", "--config=", "-"); err != nil {
			t.Errorf("urnd registry test %s: %v\n%s", name, err, out)
		}
	}
	q, err := resolver.ParseQuery("https://n2t.net/ark:/99999/x", resolver.I2L)
	names := resolver.Names{}.Owning(ownSchemes)
	if err != nil || names.Named(q) != q {
		t.Error("an ARK of another NAAN is asked for here")
	}
	if reply := w.ask(t, "/api/v1/resolve?uri=https://n2t.net/ark:/12345/x-1", "application/json", ""); !strings.Contains(reply.body, "https://a.example/x") {
		t.Errorf("the API: %d %s", reply.status, reply.body)
	}
	if reply := w.ask(t, "/api/v1/resolve", "application/json", `["https://n2t.net/ark:/12345/x-1"]`); !strings.Contains(reply.body, "https://a.example/x") {
		t.Errorf("a batch: %d %s", reply.status, reply.body)
	}
	r.put(t, registry.Name("ark:/12345/x1/"), registry.Record{Targets: targets("https://a.example/new")})
	testserver.Wait(t, "the change is seen", func() bool { return w.leads(t, "ark:12345/x-1") == "https://a.example/new" })
}

// What was registered before is found by the spelling that it was registered with, and is changed by that, beside a name that it is equal
// to now.
func TestNamesFromBefore(t *testing.T) {
	r := newSiteRegistry(t)
	old := r.unfolded()
	old.put(t, registry.Name("ark:/12345/x-1"), registry.Record{Targets: targets("https://a.example/hyphen")})
	old.put(t, registry.Name("ark:/12345/x1"), registry.Record{Targets: targets("https://a.example/none")})
	old.put(t, registry.Name("ark:/12345/y-1"), registry.Record{Targets: targets("https://a.example/y")})
	old.put(t, registry.Name("doi:10.12345/ABC"), registry.Record{Targets: targets("https://a.example/d")})
	old.put(t, registry.Name("ark:12345/z"), registry.Record{Alias: "ark:/12345/y-1"})
	old.put(t, registry.Prefix("ark:12345/p/"), registry.Record{Targets: targets("https://a.example/p/")})
	r = r.folded(t)
	r.apply(t, registry.Edit{Key: registry.Name("ark:12345/z"), IfVersion: 1, Change: func(before registry.Entry) (registry.Record, error) {
		record := before.Record
		record.Contact = "anna" // which changes nothing of where it leads
		return record, nil
	}})
	r.put(t, registry.Name("urn:example:new"), registry.Record{Alias: "ark:/12345/y-1"})
	r.put(t, registry.Name("ark:/12345/other"), registry.Record{Alias: "ark:/12345/x-1"})
	w := startWithRegistry(t, r, func(c *config.Config) { c.Registry.Only = ownSchemes })
	for name, want := range map[string]string{
		"ark:/12345/x-1": "https://a.example/hyphen", "ark:/12345/x1": "https://a.example/none", "ark:12345/x--1": "https://a.example/none",
		"ark:/12345/y-1": "https://a.example/y", "doi:10.12345/ABC": "https://a.example/d", "ark:12345/z": "https://a.example/y",
		"urn:example:new": "https://a.example/y", "ark:12345/othe-r": "https://a.example/hyphen",
		"ark:12345/p/a-b": "https://a.example/p/a-b",
	} {
		if got := w.leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	r.apply(t, registry.Edit{Key: registry.Name("ark:/12345/x-1"), IfVersion: 1, Change: registry.Withdraw("why")})
	testserver.Wait(t, "the change is seen", func() bool { return w.leads(t, "ark:/12345/x-1") == "Gone" })
	if got := w.leads(t, "ark:/12345/x1"); got != "https://a.example/none" {
		t.Errorf("the other name leads to %s", got)
	}
}
