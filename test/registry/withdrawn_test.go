//go:build e2e

package registry

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestWithdrawnOnAllPaths checks that a change of another process is detected within a second, and that no path
// resolves to the targets of a withdrawn name.
func TestWithdrawnOnAllPaths(t *testing.T) {
	t.Parallel()
	const secret = "https://secret.example/"
	r := urndtest.NewRegistry(t)
	name := registry.Name("urn:example:report-1")
	r.Put(t, name, registry.Record{
		Targets: urndtest.Targets(secret+"1", secret+"2"), Metadata: `{"title":"A report"}`,
		Contact: "library@example.org",
	})
	r.Put(t, registry.Name("urn:example:other"), registry.Record{Alias: name.Name})
	r.Put(t, registry.Prefix("urn:example:below:"), registry.Record{Targets: urndtest.Targets(secret + "below/")})
	w := r.Start(t, func(c *config.Config) { c.Access.ProxyClients = c.Access.ResolveClients })

	paths := func(name string) []string {
		return []string{
			"/" + name, "/?uri=" + name, "/uri-res/N2L?" + name, "/uri-res/N2Ls?" + name, "/uri-res/N2C?" + name,
			"/uri-res/N2Ns?" + name, "/uri-res/N2R?" + name, "/uri-res/N2Rs?" + name, "/api/v1/resolve?uri=" + name,
			"/api/v1/resolve?service=I2Ls&uri=" + name, "/api/v1/explain?uri=" + name,
		}
	}
	names := []string{name.Name, "urn:example:other", "urn:example:below:x", "URN:EXAMPLE:report-1?=q#f"}
	for _, name := range names {
		reply := w.Get(t, paths(name)[0])
		if reply.Status != http.StatusFound || !strings.HasPrefix(reply.Header.Get("Location"), secret) {
			t.Fatalf("%s: %d %q", name, reply.Status, reply.Header.Get("Location"))
		}
		for _, path := range paths(name) {
			w.Get(t, path) // fills caches
		}
	}
	r.Edit(t,
		registry.Edit{
			Key: name, IfVersion: registry.AnyVersion,
			Change: registry.Withdraw("it had errors", "urn:example:report-2", "https://new.example/"),
		},
		registry.Edit{
			Key: registry.Prefix("urn:example:below:"), IfVersion: registry.AnyVersion,
			Change: registry.Withdraw("the server is gone"),
		})
	for _, name := range names {
		testserver.Wait(t, name+" is gone", func() bool { return w.Get(t, "/"+name).Status == http.StatusGone })
	}
	for _, name := range names {
		for _, path := range paths(name) {
			for _, accept := range []string{
				"", "text/html", "application/json", "text/uri-list",
				"application/vnd.urnd.trace+json",
			} {
				reply := w.Get(t, path, "Accept: "+accept)
				if strings.Contains(reply.Body, secret) || strings.Contains(reply.Header.Get("Location"), secret) {
					t.Errorf("%s with Accept: %s leads to its target: %d %s", path, accept, reply.Status, reply.Body)
				}
				if reply.Status != http.StatusGone {
					t.Errorf("%s with Accept: %s: %d %s", path, accept, reply.Status, reply.Body)
				}
			}
		}
		batch := w.Post(t, "/api/v1/resolve?service=I2Ls", strconv.Quote(name))
		if strings.Contains(batch.Body, secret) || !strings.Contains(batch.Body, `"status":410`) {
			t.Errorf("a batch with %s: %s", name, batch.Body)
		}
	}
	checkSquidHelper(t, r, names, secret)
	for _, name := range names[:3] {
		if reply := w.RequestHost(t, http.MethodGet, "a", name); reply.Status != http.StatusGone { // as from a proxy
			t.Errorf("%s as a request-target: %d", name, reply.Status)
		}
	}
	page := w.Get(t, "/"+name.Name, "Accept: text/html")
	for _, want := range []string{
		"it had errors", `href="/urn:example:report-2"`, `href="https://new.example/"`, "library@example.org",
		time.Now().UTC().Format(time.DateOnly),
	} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("the page does not have %s:\n%s", want, page.Body)
		}
	}
	if links := strings.Join(page.Header["Link"], ", "); !strings.Contains(links,
		`/urn:example:report-2>; rel="successor-version"`) {
		t.Errorf("the Link fields are %s", links)
	}
}

// checkSquidHelper checks that the Squid helper does not resolve withdrawn names.
func checkSquidHelper(t *testing.T, r urndtest.Registry, names []string, secret string) {
	t.Helper()
	environment := []string{"URND_REGISTRY_STORE=sqlite:" + r.Path, "URND_DDDS_ENABLED=false"}
	got := urndtest.RunWith(t, environment, strings.Join(names, "\n")+"\n", "helper", "url-rewrite", "--config", "")
	answers := strings.Split(strings.TrimSuffix(got.Out, "\n"), "\n")
	if got.Status != 0 || len(answers) != len(names) {
		t.Fatalf("%+v", got)
	}
	for i, answer := range answers {
		if strings.Contains(answer, secret) || !strings.Contains(answer, "withdrawn") {
			t.Errorf("the helper of Squid answers %s with %s", names[i], answer)
		}
	}
}
