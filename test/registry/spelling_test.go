//go:build e2e

package registry

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// ownSchemes are the prefixes of names in these tests; one is not in canonical spelling.
var ownSchemes = []string{"urn:", "ark:12345/", "doi:10.12345/", "hdl:20.500.12345/"}

// TestOneName checks that each spelling of an ARK, a DOI and a handle is the same name for the daemon, urnd
// resolve and urnd registry test, including the URL of another resolver, unless it is forwarded.
func TestOneName(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t, ownSchemes...)
	r.Put(t, registry.Name("ark:12345/x-1"), registry.Record{Targets: urndtest.Targets("https://a.example/x")})
	r.Put(t, registry.Name("doi:10.12345/ABC"), registry.Record{Targets: urndtest.Targets("https://a.example/d")})
	r.Put(t, registry.Name("hdl:20.500.12345/Abc"), registry.Record{Targets: urndtest.Targets("https://a.example/h")})
	r.Put(t, registry.Prefix("ark:/12345/p/"), registry.Record{Targets: urndtest.Targets("https://a.example/p/")})
	w := r.Start(t, func(c *config.Config) { c.Registry.Owned = ownSchemes })
	environment := []string{
		"URND_REGISTRY_STORE=sqlite:" + r.Path, "URND_REGISTRY_OWNED=" + strings.Join(ownSchemes, ","),
		"URND_DDDS_ENABLED=false",
	}
	var names, wanted, lines []string
	for name, want := range map[string]string{
		"ark:/12345/x1": "https://a.example/x", "ark:12345/x1": "https://a.example/x",
		"ark:/12345/x-1":   "https://a.example/x",
		"ARK:/12345/x%2D1": "https://a.example/x", "ark:/12345/x1/": "https://a.example/x",
		"ark:/12345/x1.":                  "https://a.example/x",
		"https://n2t.net/ark:/12345/x-1":  "https://a.example/x",
		"http://any.example/ark:12345/x1": "https://a.example/x", "ark:/12345/X1": "Not Found",
		"doi:10.12345/abc": "https://a.example/d", "DOI:10.12345/aBC": "https://a.example/d",
		"HDL:20.500.12345/Abc": "https://a.example/h", "hdl:20.500.12345/abc": "Not Found",
		"ark:/12345/p/a-b": "https://a.example/p/a-b", "ark:12345/p/a%2Db?q": "https://a.example/p/a-b?q",
		"ark:/12345/none": "Not Found",
	} {
		if got := w.Target(t, name); got != want {
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
	if tested := urndtest.RunWith(t, environment, strings.Join(lines, ""), "registry", "test", "--config=",
		"-"); tested.Status != 0 {
		t.Errorf("urnd registry test: %+v", tested)
	}
	q, err := resolver.ParseQuery("https://n2t.net/ark:/99999/x", resolver.I2L)
	if err != nil || (resolver.Names{}).WithOwnedPrefixes(ownSchemes).Identify(q) != q {
		t.Error("an ARK of another NAAN is asked for here")
	}
	if reply := w.Get(t, "/api/v1/resolve?uri=https://n2t.net/ark:/12345/x-1",
		"Accept: application/json"); !strings.Contains(reply.Body, "https://a.example/x") {
		t.Errorf("the API: %d %s", reply.Status, reply.Body)
	}
	if reply := w.Post(t, "/api/v1/resolve", `["https://n2t.net/ark:/12345/x-1"]`,
		"Accept: application/json"); !strings.Contains(reply.Body, "https://a.example/x") {
		t.Errorf("a batch: %d %s", reply.Status, reply.Body)
	}
	r.Put(t, registry.Name("ark:/12345/x1/"), registry.Record{Targets: urndtest.Targets("https://a.example/new")})
	testserver.Wait(t, "the change is seen",
		func() bool { return w.Target(t, "ark:12345/x-1") == "https://a.example/new" })
}

// TestEverySpelling checks that a registered name is found by each of its spellings, in every form of request
// and by commands, before public resolvers are used, without a setting.
func TestEverySpelling(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + t.TempDir() + "/names.db"
	file := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "registry: {store: '" + store +
		"', digital_link: [{root: 'https://id.example/'}]}\nddds: {enabled: false}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(arguments ...string) urndtest.Result {
		return urndtest.RunWith(t, nil, "", append(arguments, "--config="+file)...)
	}
	set := func(name, target string) {
		t.Helper()
		if out := command("registry", "set", name, "--target", target); out.Status != 0 {
			t.Fatalf("%s: %+v", name, out)
		}
	}
	spellings := map[string][]string{
		"doi:10.5555/a1": {
			"10.5555/a1", "doi:10.5555/a1", "DOI:10.5555/A1", "DOI: 10.5555/a1", "doi 10.5555/a1", "urn:doi:10.5555/a1",
			"URN:DOI:10.5555/A1",
			"https://doi.org/10.5555/a1", "http://dx.doi.org/10.5555/a1", "info:doi/10.5555/a1", "hdl:10.5555/a1",
		},
		"hdl:20.500.9/h1": {
			"20.500.9/h1", "HDL 20.500.9/h1", "hdl:20.500.9/h1",
			"https://hdl.handle.net/20.500.9/h1", "info:hdl/20.500.9/h1",
		},
		"ark:/12345/x-1": {
			"ark:/12345/x1", "ark:12345/x1", "ark:/12345/x-1", "ARK:/12345/x1",
			"ark 12345/x1", "https://n2t.net/ark:/12345/x1", "https://any.example/ark:12345/x-1",
		},
		"isbn:0395363411": {
			"urn:isbn:0-395-36341-1", "0-395-36341-1", "ISBN-10: 0395363411",
			"0395363411 (pbk.)", "https://openlibrary.org/isbn/0395363411",
		},
		"urn:issn:1046-8188": {
			"1046-8188", "ISSN 1046-8188", "e-ISSN: 1046-8188",
			"https://portal.issn.org/resource/ISSN/1046-8188",
		},
		"urn:nbn:fi:lib-1": {"nbn:fi:lib-1", "URN:NBN:FI:lib-1", "https://urn.fi/URN:NBN:fi:lib-1"},
		"https://id.example/01/09506000134352": {
			"https://id.example/01/9506000134352",
			"https://id.gs1.org/01/09506000134352", "http://ID.example/01/09506000134352",
		},
		"https://purl.example/net/a": {
			"https://purl.example/net/a", "HTTPS://PURL.example:443/net/a",
			"http://purl.example/net/a", "https://purl.example./net/a",
		},
	}
	for name := range spellings {
		set(name, "https://here.example/"+url.PathEscape(name))
	}
	w := urndtest.Start(t, "127.0.0.1:1", func(c *config.Config) {
		c.Registry.Store, c.DDDS.Enabled = store, false
		c.Registry.DigitalLink = []config.DigitalLink{{Root: "https://id.example/"}}
	})
	for name, all := range spellings {
		want := "https://here.example/" + url.PathEscape(name)
		for _, spelling := range all {
			for form, request := range map[string]string{
				"a path":   "/" + strings.ReplaceAll(spelling, " ", "%20"),
				"the form": "/?uri=" + url.QueryEscape(spelling), "THTTP": "/uri-res/N2L?" + spelling,
				"the API": "/api/v1/resolve?uri=" + url.QueryEscape(spelling),
			} {
				if labelled := !strings.Contains(strings.SplitN(spelling, "/", 2)[0], ":") ||
					strings.Contains(spelling, " "); labelled && form != "a path" && form != "the form" {
					continue // texts that are not URIs are for people
				}
				reply := w.Get(t, request)
				if reply.Location != want && (form != "the API" || !strings.Contains(reply.Body, want)) {
					t.Errorf("%s as %s: %d %s %s, want %s", spelling, form, reply.Status, reply.Location,
						reply.Body, want)
				}
			}
			if strings.Contains(spelling, " ") {
				continue
			}
			if out := command("resolve", spelling); strings.TrimSpace(out.Out) != want {
				t.Errorf("urnd resolve %s: %+v", spelling, out)
			}
		}
	}
	// Names of others still resolve to their public resolvers, even if the registry has names of the same
	// scheme.
	for name, want := range map[string]string{
		"10.5555/other": "https://doi.org/10.5555/other", "20.500.9/other": "https://hdl.handle.net/20.500.9/other",
		"ark:/12345/other": "https://n2t.net/ark:/12345/other", "ark:/99999/x-1": "https://n2t.net/ark:/99999/x-1",
		"https://purl.example/other":           "https://purl.example/other",
		"https://id.gs1.org/01/09506000149301": "https://id.gs1.org/01/09506000149301",
	} {
		if got := w.Target(t, name); got != want {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
	// The first name of its kind is detected like any other change.
	if got := w.Target(t, "ark:/99999/x-1"); got != "https://n2t.net/ark:/99999/x-1" {
		t.Errorf("an ARK of others leads to %s", got)
	}
	set("ark:/99999/x1", "https://here.example/first")
	set("tag:here.example,2026:a", "https://here.example/tag")
	testserver.Wait(t, "the first ARK of a NAAN is known",
		func() bool { return w.Target(t, "ark:/99999/x-1") == "https://here.example/first" })
	testserver.Wait(t, "the first tag is known",
		func() bool { return w.Target(t, "tag:here.example,2026:a") == "https://here.example/tag" })
	if reply := w.Get(t, "/tag:here.example,2026:b"); reply.Status != http.StatusNotFound {
		t.Errorf("a tag that is not registered: %d %s", reply.Status, reply.Body)
	}
	if out := command("registry", "set", "ietf:rfc:2648", "--target", "https://here.example/"); out.Status != 2 ||
		!strings.Contains(out.Err, "did you mean urn:ietf:rfc:2648?") {
		t.Errorf("a URN without urn: %+v", out)
	}
}

// TestNamesLeadNowhereElse checks that clients that may not use the proxy are only redirected to registered
// targets and to public resolvers of names; the configuration of another ARK resolver does not hide names of
// the registry.
func TestNamesLeadNowhereElse(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t, "urn:", "ark:", "https:")
	for _, name := range []string{"https://web.example/a", "ark:/12345/x1"} {
		r.Put(t, registry.Name(name), registry.Record{Targets: urndtest.Targets("https://here.example/")})
	}
	for _, only := range [][]string{nil, {"urn:", "ark:/12345/", "https://web.example/"}} {
		w := r.Start(t, func(c *config.Config) {
			c.Registry.Owned, c.Access.ProxyClients = only, nil
			c.Resolve.Identifiers = []config.Identifier{{
				Pattern:  `(?i)^ark:/?(?P<id>[0-9b-z]{5,}/\S+)$`,
				Template: "https://resolver.example.org/ark:/{+id}",
			}}
		})
		for name, want := range map[string]string{
			"https://web.example/a": "https://here.example/", "https://web.example/none": "Not Found",
			"http://web.example/none": "Not Found",
			"https://other.example/":  "Forbidden", "ark:/12345/x-1": "https://here.example/",
			"https://any.example/ark:/12345/x1":   "https://here.example/",
			"https://any.example/ark:/12345/none": "Not Found",
			"ark:/99999/x?info":                   "https://resolver.example.org/ark:/99999/x?info",
			"https://doi.org/10.5555/a1":          "https://doi.org/10.5555/a1",
		} {
			if got := w.Target(t, name); got != want {
				t.Errorf("only %q: %s leads to %s, want %s", only, name, got, want)
			}
		}
		for _, target := range []string{
			"/uri-res/L2R?ark:/12345/x1", "/uri-res/N2R?doi:10.5555/a1",
			"/uri-res/L2R?https://web.example/a",
		} {
			if got := w.Get(t, target); got.Status != http.StatusForbidden {
				t.Errorf("only %q: %s: %d %s", only, target, got.Status, got.Body)
			}
		}
	}
}
