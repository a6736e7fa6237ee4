//go:build e2e

package registry

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestRegistryHosts checks that the paths of own web hosts are names, with the redirect status of the name, of
// its prefix, or the default.
func TestRegistryHosts(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	put := func(key registry.Key, status int, uris ...string) {
		r.Put(t, key, registry.Record{Redirect: status, Targets: urndtest.Targets(uris...)})
	}
	put(registry.Name("https://purl.example/net/foo"), 0, "https://a.example/foo")
	put(registry.Name("https://purl.example/net/moved"), 301, "https://a.example/moved?x=y")
	put(registry.Name("https://purl.example/net/foo?id=1"), 303, "https://a.example/one")
	put(registry.Prefix("https://w3id.example/"), 308, "https://b.example/")
	put(registry.Name("https://w3id.example/own"), 0, "https://a.example/own")
	put(registry.Name("urn:example:a"), 0, "https://a.example/urn")
	r.Put(t, registry.Name("https://purl.example/gone"),
		registry.Record{Status: registry.Withdrawn, Reason: "it was wrong"})
	w := r.Start(t, func(c *config.Config) {
		c.Registry.Hosts, c.Registry.Redirect = []string{"PURL.example", "w3id.example."}, 307
	})
	for _, c := range []struct{ host, path, want string }{
		{"purl.example", "/net/foo", "307 https://a.example/foo"},
		{"PURL.example:8080", "/net/foo", "307 https://a.example/foo"},
		{"purl.example", "/net/../net/%66oo", "307 https://a.example/foo"},
		{"purl.example", "/net/foo?utm=1", "307 https://a.example/foo?utm=1"},
		{"purl.example", "/net/foo?id=1", "303 https://a.example/one"},
		{"purl.example", "/net/moved", "301 https://a.example/moved?x=y"},
		{"purl.example", "/net/moved?q", "301 https://a.example/moved?x=y&q"},
		{"purl.example", "/net/foo/", "404"},
		{"purl.example", "/gone", "410"},
		{"purl.example", "/", "200"}, // the front page
		{"purl.example", "/robots.txt", "200"},
		{"purl.example", "/urn:example:a", "307 https://a.example/urn"},
		{"purl.example", "/uri-res/N2L?https://purl.example/net/moved", "303 https://a.example/moved?x=y"},
		{"purl.example", "/https://purl.example/net/foo", "404"},
		{"w3id.example", "/", "308 https://b.example/"},
		{"w3id.example", "/x/y?z", "308 https://b.example/x/y?z"},
		{"w3id.example", "/own", "308 https://a.example/own"},
		{"other.example", "/net/foo", "404"},
		{"localhost", "/https://purl.example/net/moved", "301 https://a.example/moved?x=y"},
		{"localhost", "/urn:example:a", "307 https://a.example/urn"},
	} {
		for range 2 { // from the store, and from the cache
			if got := w.At(t, http.MethodGet, c.host, c.path); got != c.want {
				t.Errorf("%s%s is %s, want %s", c.host, c.path, got, c.want)
			}
		}
	}
	for method, want := range map[string]string{
		http.MethodHead: "301 https://a.example/moved?x=y",
		http.MethodPost: "405", http.MethodPut: "405",
	} {
		if got := w.At(t, method, "purl.example", "/net/moved"); got != want {
			t.Errorf("%s is %s, want %s", method, got, want)
		}
	}
	if got := w.At(t, http.MethodGet, "localhost", "/net/foo", "X-Forwarded-Host: purl.example",
		"Forwarded: host=purl.example"); got != "404" {
		t.Errorf("a client names another host in a field: %s", got)
	}
	put(registry.Prefix("https://purl.example/net/"), 302, "https://a.example/")
	for path, want := range map[string]string{
		"/net/foo": "302 https://a.example/foo", "/net/foo?utm=1": "302 https://a.example/foo?utm=1",
		"/net/new": "302 https://a.example/new",
	} {
		eventually(t, w, path, want)
	}
}

// eventually waits until a path of purl.example has a target: changes of another process are detected within a
// second.
func eventually(t *testing.T, w *urndtest.Daemon, path, want string) {
	t.Helper()
	testserver.Wait(t, path+" is "+want, func() bool { return w.At(t, http.MethodGet, "purl.example", path) == want })
}
