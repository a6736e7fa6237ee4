package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// siteRegistry is a registry in a file, with the names of a test.
type siteRegistry struct {
	*registry.Registry
	path string
}

// newSiteRegistry creates a registry.
func newSiteRegistry(t testing.TB) siteRegistry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	store, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	c := config.Default()
	c.Registry.Owned = []string{"urn:", "ark:/12345/"}
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
	r.apply(t, registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: registry.Put(record)})
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

// completeReply is a response with its content.
type completeReply struct {
	status int
	header http.Header
	body   string
}

// request sends a request, with a body if it is not empty, and does not follow redirects.
func (w *testDaemon) request(t *testing.T, path, accept, body string) completeReply {
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
	return readReply(t, request)
}

// readReply sends a request, and does not follow redirects.
func readReply(t *testing.T, request *http.Request) completeReply {
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
	return completeReply{response.StatusCode, response.Header, string(text)}
}

// target returns the target of a name, or else the text of its status.
func (w *testDaemon) target(t *testing.T, name string) string {
	t.Helper()
	reply := w.request(t, "/"+name, "", "")
	if location := reply.header.Get("Location"); location != "" {
		return location
	}
	return http.StatusText(reply.status)
}

// change sends a request to the API of the registry.
func (w *testDaemon) change(t *testing.T, method, target, contentType, body string, fields ...string) {
	t.Helper()
	request, err := http.NewRequest(method, w.admin+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %s", method, target, response.Status)
	}
}
