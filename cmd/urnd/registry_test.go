package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
	"github.com/urnd/urnd/internal/cli/helper"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// siteRegistry is a registry in a file, with the names of a test.
type siteRegistry struct {
	*registry.Registry
	path string
}

// newSiteRegistry makes a registry.
func newSiteRegistry(t testing.TB) siteRegistry {
	t.Helper()
	return newSiteRegistryOf(t, "urn:", "ark:/12345/")
}

// newSiteRegistryOf is newSiteRegistry for names with other beginnings.
func newSiteRegistryOf(t testing.TB, only ...string) siteRegistry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := config.Default()
	c.Registry.Only = only
	c.Registry.Hosts = []string{"purl.example", "w3id.example"}
	c.Registry.DigitalLink = digitalLinks()
	names, err := namesOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return siteRegistry{newRegistry(store, names, time.Now, nil), path}
}

// put sets the record of a key.
func (r siteRegistry) put(t testing.TB, key registry.Key, record registry.Record) {
	t.Helper()
	r.apply(t, registry.Edit{Key: key, IfVersion: registry.Any, Change: registry.Put(record)})
}

func (r siteRegistry) apply(t testing.TB, edits ...registry.Edit) {
	t.Helper()
	if _, err := r.Apply(t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edits...); err != nil {
		t.Fatal(err)
	}
}

func targets(uris ...string) (all []registry.Target) {
	for _, u := range uris {
		all = append(all, registry.Target{URI: u})
	}
	return all
}

// startWithRegistry runs urnd with a registry, without a DNS server that answers.
func startWithRegistry(t *testing.T, r siteRegistry, change func(*config.Config)) *testDaemon {
	t.Helper()
	return startDaemon(t, "127.0.0.1:1", 0, func(c *config.Config) {
		c.Registry.Store = "sqlite:" + r.path
		c.DDDS.Enabled = false
		if change != nil {
			change(c)
		}
	})
}

// wholeReply is a response that was read.
type wholeReply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request, with a body if it is not empty, and follows no redirect.
func (w *testDaemon) ask(t *testing.T, path, accept, body string) wholeReply {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	return wholeOf(t, request)
}

// wholeOf sends a request, and follows no redirect.
func wholeOf(t *testing.T, request *http.Request) wholeReply {
	t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return wholeReply{response.StatusCode, response.Header, string(text)}
}

// A change of another process is seen within a second, and no path leads to the targets of a name that
// was withdrawn.
func TestWithdrawnOnAllPaths(t *testing.T) {
	const secret = "https://secret.example/"
	r := newSiteRegistry(t)
	name := registry.Name("urn:example:report-1")
	r.put(t, name, registry.Record{Targets: targets(secret+"1", secret+"2"), Metadata: `{"title":"A report"}`, Contact: "library@example.org"})
	r.put(t, registry.Name("urn:example:other"), registry.Record{Alias: name.Name})
	r.put(t, registry.Prefix("urn:example:below:"), registry.Record{Targets: targets(secret + "below/")})
	w := startWithRegistry(t, r, func(c *config.Config) { c.Access.ProxyClients = c.Access.ResolveClients })

	paths := func(name string) []string {
		return []string{
			"/" + name, "/?uri=" + name, "/uri-res/N2L?" + name, "/uri-res/N2Ls?" + name, "/uri-res/N2C?" + name, "/uri-res/N2Ns?" + name,
			"/uri-res/N2R?" + name, "/uri-res/N2Rs?" + name, "/api/v1/resolve?uri=" + name, "/api/v1/resolve?service=I2Ls&uri=" + name, "/api/v1/explain?uri=" + name,
		}
	}
	names := []string{name.Name, "urn:example:other", "urn:example:below:x", "URN:EXAMPLE:report-1?=q#f"}
	for _, name := range names {
		reply := w.ask(t, paths(name)[0], "", "")
		if reply.status != http.StatusFound || !strings.HasPrefix(reply.header.Get("Location"), secret) {
			t.Fatalf("%s: %d %q", name, reply.status, reply.header.Get("Location"))
		}
		for _, path := range paths(name) {
			w.ask(t, path, "", "") // fills caches
		}
	}
	r.apply(t,
		registry.Edit{Key: name, IfVersion: registry.Any, Change: registry.Withdraw("it had errors", "urn:example:report-2", "https://new.example/")},
		registry.Edit{Key: registry.Prefix("urn:example:below:"), IfVersion: registry.Any, Change: registry.Withdraw("the server is gone")})
	start := time.Now()
	for _, name := range names {
		testserver.Wait(t, name+" is gone", func() bool { return w.ask(t, "/"+name, "", "").status == http.StatusGone })
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("the change was seen after %s", took)
	}
	for _, name := range names {
		for _, path := range paths(name) {
			for _, accept := range []string{"", "text/html", "application/json", "text/uri-list", "application/vnd.urnd.trace+json"} {
				reply := w.ask(t, path, accept, "")
				if strings.Contains(reply.body, secret) || strings.Contains(reply.header.Get("Location"), secret) {
					t.Errorf("%s with Accept: %s leads to its target: %d %s", path, accept, reply.status, reply.body)
				}
				if reply.status != http.StatusGone {
					t.Errorf("%s with Accept: %s: %d %s", path, accept, reply.status, reply.body)
				}
			}
		}
		batch := w.ask(t, "/api/v1/resolve?service=I2Ls", "", strconv.Quote(name))
		if strings.Contains(batch.body, secret) || !strings.Contains(batch.body, `"status":410`) {
			t.Errorf("a batch with %s: %s", name, batch.body)
		}
	}
	checkSquidHelper(t, w.config, names, secret)
	for _, name := range names[:3] {
		if reply := w.send(t, "GET "+name, ""); reply.StatusCode != http.StatusGone { // as of a proxy
			t.Errorf("%s as a request-target: %s", name, reply.Status)
		}
	}
	page := w.ask(t, "/"+name.Name, "text/html", "")
	for _, want := range []string{
		"it had errors", `href="/urn:example:report-2"`, `href="https://new.example/"`, "library@example.org",
		time.Now().UTC().Format(time.DateOnly),
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not have %s:\n%s", want, page.body)
		}
	}
	if links := strings.Join(page.header["Link"], ", "); !strings.Contains(links, `/urn:example:report-2>; rel="successor-version"`) {
		t.Errorf("the Link fields are %s", links)
	}
}

// checkSquidHelper checks that the helper of Squid does not lead to what was withdrawn.
func checkSquidHelper(t *testing.T, c config.Config, names []string, secret string) {
	t.Helper()
	open := func(ctx context.Context, _ config.Config, messages io.Writer) (cli.Resolution, error) {
		return openResolution(ctx, c, messages)
	}
	out, _, err := clitest.Run(t, helper.Command(namesOf, open), strings.Join(names, "\n")+"\n", "url-rewrite", "--config", "")
	answers := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || len(answers) != len(names) {
		t.Fatalf("%v, %q", err, out)
	}
	for i, answer := range answers {
		if strings.Contains(answer, secret) || !strings.Contains(answer, "withdrawn") {
			t.Errorf("the helper of Squid answers %s with %s", names[i], answer)
		}
	}
}
