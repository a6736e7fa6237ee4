package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// at asks for a path of a host, and returns the status, and the location if there is one.
func (w *testDaemon) at(t *testing.T, method, host, path string, fields ...string) string {
	t.Helper()
	request, err := http.NewRequest(method, w.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = path // as it is
	request.Host = host
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return strings.TrimSpace(fmt.Sprint(response.StatusCode) + " " + response.Header.Get("Location"))
}

// The paths of own web hosts are names, with the status of the name, of its prefix or of all.
func TestRegistryHosts(t *testing.T) {
	r := newSiteRegistry(t)
	put := func(key registry.Key, status int, uris ...string) {
		r.put(t, key, registry.Record{Redirect: status, Targets: targets(uris...)})
	}
	put(registry.Name("https://purl.example/net/foo"), 0, "https://a.example/foo")
	put(registry.Name("https://purl.example/net/moved"), 301, "https://a.example/moved?x=y")
	put(registry.Name("https://purl.example/net/foo?id=1"), 303, "https://a.example/one")
	put(registry.Prefix("https://w3id.example/"), 308, "https://b.example/")
	put(registry.Name("https://w3id.example/own"), 0, "https://a.example/own")
	put(registry.Name("urn:example:a"), 0, "https://a.example/urn")
	r.put(t, registry.Name("https://purl.example/gone"), registry.Record{Status: registry.Withdrawn, Reason: "it was wrong"})
	w := startWithRegistry(t, r, func(c *config.Config) {
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
			if got := w.at(t, http.MethodGet, c.host, c.path); got != c.want {
				t.Errorf("%s%s is %s, want %s", c.host, c.path, got, c.want)
			}
		}
	}
	for method, want := range map[string]string{http.MethodHead: "301 https://a.example/moved?x=y", http.MethodPost: "405", http.MethodPut: "405"} {
		if got := w.at(t, method, "purl.example", "/net/moved"); got != want {
			t.Errorf("%s is %s, want %s", method, got, want)
		}
	}
	if got := w.at(t, http.MethodGet, "localhost", "/net/foo", "X-Forwarded-Host: purl.example", "Forwarded: host=purl.example"); got != "404" {
		t.Errorf("a client names another host in a field: %s", got)
	}
	put(registry.Prefix("https://purl.example/net/"), 302, "https://a.example/")
	for path, want := range map[string]string{
		"/net/foo": "302 https://a.example/foo", "/net/foo?utm=1": "302 https://a.example/foo?utm=1", "/net/new": "302 https://a.example/new",
	} {
		w.eventually(t, path, want)
	}
}

// eventually waits until a path of purl.example leads somewhere: changes of another process are seen within a second.
func (w *testDaemon) eventually(t *testing.T, path, want string) {
	t.Helper()
	testserver.Wait(t, path+" is "+want, func() bool { return w.at(t, http.MethodGet, "purl.example", path) == want })
}
