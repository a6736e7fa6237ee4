package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

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

// The daemon that made a change answers by it at once, whatever it had in its cache.
func TestChangeIsAnsweredAtOnce(t *testing.T) {
	r := newSiteRegistry(t)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://a.example/0")})
	r.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: targets("https://a.example/0/")})
	w := startWithRegistry(t, r, nil)
	w.leads(t, "urn:example:alias")
	w.leads(t, "urn:example:p:x")
	for i := range 10 {
		w.leads(t, "urn:example:a")
		body := fmt.Sprintf(`{"targets":[{"uri":"https://a.example/%d"}]}`, i+1)
		w.change(t, "PATCH", "/api/v1/names?uri=urn:example:a", "application/merge-patch+json", body)
		for _, name := range []string{"urn:example:a", "urn:example:alias"} {
			if got, want := w.leads(t, name), fmt.Sprintf("https://a.example/%d", i+1); got != want {
				t.Errorf("%s leads to %s, want %s", name, got, want)
			}
		}
	}
	w.change(t, "PATCH", "/api/v1/prefixes?uri=urn:example:p:", "application/merge-patch+json", `{"targets":[{"uri":"https://a.example/1/"}]}`)
	if got := w.leads(t, "urn:example:p:x"); got != "https://a.example/1/x" {
		t.Errorf("below the prefix it leads to %s", got)
	}
	w.change(t, "POST", "/api/v1/names/withdraw?uri=urn:example:a", "application/json", `{"reason":"why"}`)
	if got := w.leads(t, "urn:example:alias"); got != "Gone" {
		t.Errorf("a withdrawn name leads to %s", got)
	}
}

// A file that is replaced under the daemon is used from then on; where it is removed, nothing is lost in it, and none is made in
// its place.
func TestRegistryFileIsReplaced(t *testing.T) {
	r, other := newSiteRegistry(t), newSiteRegistry(t)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://old.example/")})
	other.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://new.example/")})
	for _, of := range []siteRegistry{r, other} {
		if err := of.Store().Close(); err != nil { // all is in the file then
			t.Fatal(err)
		}
	}
	w := startWithRegistry(t, r, nil)
	if got := w.leads(t, "urn:example:a"); got != "https://old.example/" {
		t.Fatalf("it leads to %s", got)
	}
	move := func(from, to string) {
		t.Helper()
		for _, beside := range []string{"-wal", "-shm"} {
			_ = os.Remove(to + beside)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(other.path, r.path)
	testserver.Wait(t, "the new file is used", func() bool { return w.leads(t, "urn:example:a") == "https://new.example/" })

	away := filepath.Join(t.TempDir(), "away.db")
	move(r.path, away)
	testserver.Wait(t, "readiness says that there is no file", func() bool { return strings.Contains(w.readiness(t), "there is no file") })
	if got := w.leads(t, "urn:example:b"); got != "Service Unavailable" {
		t.Errorf("another name without a file: %s", got)
	}
	if _, err := os.Stat(r.path); err == nil {
		t.Error("an empty file was made")
	}
	move(away, r.path)
	testserver.Wait(t, "readiness says nothing any more", func() bool { return !strings.Contains(w.readiness(t), "registry") })
	if got := w.leads(t, "urn:example:a"); got != "https://new.example/" {
		t.Errorf("with the file again it leads to %s", got)
	}
}
