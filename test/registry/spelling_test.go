//go:build e2e

package registry

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
	"github.com/urnd/urnd/uri"
)

// ownSchemes are what names begin with in these tests, of which one is not written as names are.
var ownSchemes = []string{"urn:", "ark:12345/", "doi:10.12345/", "hdl:20.500.12345/"}

// unfolded returns the same registry as urnd had it before schemes but "urn" had rules by which more names are equal.
func unfolded(r urndtest.Registry) urndtest.Registry {
	plain := func(text string) (string, error) {
		u, err := uri.Parse(text)
		return u.NormalizeSteps(uri.AllSteps &^ uri.SchemeForm).String(), err
	}
	r.Registry = registry.New(registry.Config{Store: r.Store(), Now: time.Now, Canonical: plain, CanonicalPrefix: plain})
	return r
}

// Each spelling of an ARK, a DOI and a handle is the same name for the daemon, urnd resolve and urnd registry test: also in the URL of
// another resolver, unless it is forwarded.
func TestOneName(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t, ownSchemes...)
	r.Put(t, registry.Name("ark:12345/x-1"), registry.Record{Targets: urndtest.Targets("https://a.example/x")})
	r.Put(t, registry.Name("doi:10.12345/ABC"), registry.Record{Targets: urndtest.Targets("https://a.example/d")})
	r.Put(t, registry.Name("hdl:20.500.12345/Abc"), registry.Record{Targets: urndtest.Targets("https://a.example/h")})
	r.Put(t, registry.Prefix("ark:/12345/p/"), registry.Record{Targets: urndtest.Targets("https://a.example/p/")})
	w := r.Start(t, func(c *config.Config) { c.Registry.Only = ownSchemes })
	environment := []string{
		"URND_REGISTRY_STORE=sqlite:" + r.Path, "URND_REGISTRY_ONLY=" + strings.Join(ownSchemes, ","), "URND_DDDS_ENABLED=false",
	}
	var names, wanted, lines []string
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
		if got := w.Leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
		line := name + "," + want + "\n"
		if want == "Not Found" {
			line = name + ",,missing\n"
		}
		names, wanted, lines = append(names, name), append(wanted, want), append(lines, line)
	}
	resolved := urndtest.RunWith(t, environment, strings.Join(names, "\n")+"\n", "resolve", "--config=", "-")
	out := strings.Split(resolved.Out, "\n")
	if resolved.Status != 1 || len(out) != len(names)+1 {
		t.Fatalf("urnd resolve: %+v", resolved)
	}
	for i, want := range wanted {
		if got := out[i]; got != want && (want != "Not Found" || !strings.HasPrefix(got, "error: ")) {
			t.Errorf("urnd resolve %s: %s, want %s", names[i], got, want)
		}
	}
	if tested := urndtest.RunWith(t, environment, strings.Join(lines, ""), "registry", "test", "--config=", "-"); tested.Status != 0 {
		t.Errorf("urnd registry test: %+v", tested)
	}
	q, err := resolver.ParseQuery("https://n2t.net/ark:/99999/x", resolver.I2L)
	if err != nil || (resolver.Names{}).Owning(ownSchemes).Named(q) != q {
		t.Error("an ARK of another NAAN is asked for here")
	}
	if reply := w.Get(t, "/api/v1/resolve?uri=https://n2t.net/ark:/12345/x-1", "Accept: application/json"); !strings.Contains(reply.Body, "https://a.example/x") {
		t.Errorf("the API: %d %s", reply.Status, reply.Body)
	}
	if reply := w.Post(t, "/api/v1/resolve", `["https://n2t.net/ark:/12345/x-1"]`, "Accept: application/json"); !strings.Contains(reply.Body, "https://a.example/x") {
		t.Errorf("a batch: %d %s", reply.Status, reply.Body)
	}
	r.Put(t, registry.Name("ark:/12345/x1/"), registry.Record{Targets: urndtest.Targets("https://a.example/new")})
	testserver.Wait(t, "the change is seen", func() bool { return w.Leads(t, "ark:12345/x-1") == "https://a.example/new" })
}

// What was registered before is found by the spelling that it was registered with, and is changed by that, beside a name that it is equal
// to now.
func TestNamesFromBefore(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	old := unfolded(r)
	old.Put(t, registry.Name("ark:/12345/x-1"), registry.Record{Targets: urndtest.Targets("https://a.example/hyphen")})
	old.Put(t, registry.Name("ark:/12345/x1"), registry.Record{Targets: urndtest.Targets("https://a.example/none")})
	old.Put(t, registry.Name("ark:/12345/y-1"), registry.Record{Targets: urndtest.Targets("https://a.example/y")})
	old.Put(t, registry.Name("ark:12345/z"), registry.Record{Alias: "ark:/12345/y-1"})
	old.Put(t, registry.Prefix("ark:12345/p/"), registry.Record{Targets: urndtest.Targets("https://a.example/p/")})
	r = r.For(t, time.Now, ownSchemes...)
	r.Edit(t, registry.Edit{Key: registry.Name("ark:12345/z"), IfVersion: 1, Change: func(before registry.Entry) (registry.Record, error) {
		record := before.Record
		record.Contact = "anna" // which changes nothing of where it leads
		return record, nil
	}})
	r.Put(t, registry.Name("urn:example:new"), registry.Record{Alias: "ark:/12345/y-1"})
	r.Put(t, registry.Name("ark:/12345/other"), registry.Record{Alias: "ark:/12345/x-1"})
	w := r.Start(t, func(c *config.Config) { c.Registry.Only = ownSchemes })
	for name, want := range map[string]string{
		"ark:/12345/x-1": "https://a.example/hyphen", "ark:/12345/x1": "https://a.example/none", "ark:12345/x--1": "https://a.example/none",
		"ark:/12345/y-1": "https://a.example/y", "ark:12345/z": "https://a.example/y",
		"urn:example:new": "https://a.example/y", "ark:12345/othe-r": "https://a.example/hyphen",
		"ark:12345/p/a-b": "https://a.example/p/a-b",
	} {
		if got := w.Leads(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	r.Edit(t, registry.Edit{Key: registry.Name("ark:/12345/x-1"), IfVersion: 1, Change: registry.Withdraw("why")})
	testserver.Wait(t, "the change is seen", func() bool { return w.Leads(t, "ark:/12345/x-1") == "Gone" })
	if got := w.Leads(t, "ark:/12345/x1"); got != "https://a.example/none" {
		t.Errorf("the other name leads to %s", got)
	}
}
