//go:build e2e

package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// documentedVCL returns the Varnish configuration in docs/scale.md for urnd at a host and port.
func documentedVCL(t *testing.T, host, port string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(urndtest.Root(), "docs/scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, vcl, _ := strings.Cut(string(text), "```vcl\nvcl 4.1;\n")
	vcl, _, ok := strings.Cut(vcl, "```")
	const shown = `.host = "127.0.0.1"; .port = "8141";`
	if !ok || !strings.Contains(vcl, shown) {
		t.Fatalf("the document shows %q", vcl)
	}
	return strings.Replace(vcl, shown, fmt.Sprintf(`.host = %q; .port = %q;`, host, port), 1)
}

// front is a cache in front of urnd.
type front struct{ url string }

// get returns the target of a name, and whether the cache in front served the response.
func (f front) get(t *testing.T, path string) (leads string, hit bool) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, f.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("Xkey"); got != "" {
		t.Errorf("clients see tags: %s", got)
	}
	leads = response.Header.Get("Location")
	if leads == "" {
		leads = fmt.Sprint(response.StatusCode)
	}
	return leads, strings.Contains(response.Header.Get("X-Varnish"), " ")
}

// stores requests names until the cache in front has stored them.
func (f front) stores(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		testserver.Wait(t, path+" is stored", func() bool { _, hit := f.get(t, path); return hit })
	}
}

// startBehind starts urnd with a registry behind Varnish.
func startBehind(t *testing.T) (*urndtest.Daemon, front, string) {
	t.Helper()
	r := urndtest.NewRegistry(t)
	for _, name := range []string{"a", "b", "p:c"} {
		r.Put(t, registry.Name("urn:example:"+name), registry.Record{Targets: urndtest.Targets("https://a.example/0")})
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("the-secret-of-the-cache\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// urnd needs the port of the cache, and the cache that of urnd: this server is between them.
	var to atomic.Pointer[url.URL]
	between := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to.Load())
	}})
	t.Cleanup(between.Close)
	w := r.Start(t, func(c *config.Config) {
		c.Registry.ClientTTL = time.Second
		c.CDN = config.CDN{
			Tags: "xkey", TTL: 24 * time.Hour, Webhooks: []string{between.URL + "/purge"},
			Secret: secret,
		}
	})
	host, port, _ := strings.Cut(strings.TrimPrefix(w.URL, "http://"), ":")
	varnish := testserver.StartVarnish(t, testserver.OpenFolder(t), documentedVCL(t, host, port))
	to.Store(&url.URL{Scheme: "http", Host: varnish.Addr()})
	return w, front{"http://" + varnish.Addr()}, secret
}

// TestCacheInFront checks that changed and purged names are purged in the cache in front, in all spellings, and
// that other names are not.
func TestCacheInFront(t *testing.T) {
	t.Parallel()
	w, f, _ := startBehind(t)
	f.stores(t, "/urn:example:a", "/URN:EXAMPLE:a", "/urn:example:b", "/urn:example:p:c")
	becomes := func(path, want string) {
		t.Helper()
		testserver.Wait(t, path+" leads to "+want, func() bool { got, _ := f.get(t, path); return got == want })
	}
	is := func(path, want string) {
		t.Helper()
		if got, hit := f.get(t, path); got != want || !hit {
			t.Errorf("%s leads to %s, a hit: %t", path, got, hit)
		}
	}
	w.Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json",
		`{"targets":[{"uri":"https://a.example/1"}]}`)
	becomes("/urn:example:a", "https://a.example/1")
	becomes("/URN:EXAMPLE:a", "https://a.example/1")
	w.Change(t, "POST /api/v1/names/withdraw?uri=urn:example:a", "application/json", `{"reason":"why"}`)
	becomes("/urn:example:a", "410")
	f.stores(t, "/urn:example:a")
	w.Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json", `{"reason":"another"}`)
	testserver.Wait(t, "a negative answer is purged", func() bool { _, hit := f.get(t, "/urn:example:a"); return !hit })
	is("/urn:example:b", "https://a.example/0")
	w.Change(t, "PUT /api/v1/prefixes?uri=urn:example:p:", "application/json",
		`{"targets":[{"uri":"https://a.example/p/"}]}`)
	testserver.Wait(t, "what is below a prefix is purged",
		func() bool { _, hit := f.get(t, "/urn:example:p:c"); return !hit })
	is("/urn:example:b", "https://a.example/0")
	for _, selection := range []string{
		"uri=urn:example:b", "namespace=example", "prefix=urn:ex", "all=true",
		"all=true&mode=hard",
	} {
		f.stores(t, "/urn:example:b")
		if status, body := w.AdminRequest(t, "DELETE /api/v1/cache/entries?"+selection); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		testserver.Wait(t, "a purge of "+selection, func() bool { _, hit := f.get(t, "/urn:example:b"); return !hit })
	}
	f.stores(t, "/urn:example:b")
	w.Reload(t, func(c *config.Config) { c.Registry.TTL = time.Hour })
	testserver.Wait(t, "a reload that throws answers away",
		func() bool { _, hit := f.get(t, "/urn:example:b"); return !hit })
}

// TestCacheInFrontRefuses checks that purges of an unavailable cache are retried, logged, counted and shown,
// including those not delivered at the end.
func TestCacheInFrontRefuses(t *testing.T) {
	t.Parallel()
	w, f, secret := startBehind(t)
	f.stores(t, "/urn:example:a")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("another")
	w.Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json",
		`{"targets":[{"uri":"https://a.example/1"}]}`)
	w.WaitForLog(t, "purge webhook failed, retrying")
	testserver.Wait(t, "it is in the report of readiness",
		func() bool { return strings.Contains(readiness(t, w), "purge webhooks are failing") })
	if got, hit := f.get(t, "/urn:example:a"); got != "https://a.example/0" || !hit {
		t.Errorf("it leads to %s, a hit: %t", got, hit)
	}
	_, text := w.AdminRequest(t, "GET /metrics")
	for _, want := range []string{"urnd_webhook_pending_tags 1\n", `urnd_webhook_calls_total{outcome="failure"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %q", want)
		}
	}
	write("the-secret-of-the-cache")
	testserver.Wait(t, "it is told",
		func() bool { got, _ := f.get(t, "/urn:example:a"); return got == "https://a.example/1" })
	w.WaitForLog(t, "purge webhook succeeded again")
	write("another")
	w.Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json",
		`{"targets":[{"uri":"https://a.example/2"}]}`)
	w.Stop()
	if log := w.Log(); !strings.Contains(log, "purge webhook failed, tags dropped") {
		t.Errorf("at the end the log does not say that tags were lost")
	}
}

// TestCacheInFrontOfSeveral: each urnd that shares a registry notifies a cache in front after it has removed
// the answer from its own cache. After the last notification all have the new answer.
func TestCacheInFrontOfSeveral(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://a.example/0")})
	var all [2]*urndtest.Daemon
	told := make(chan string, 10)
	for i := range all {
		hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			// Possibly after the end of the test, because notifications are repeated.
			told <- locationOf(r.Context(), all[i].URL+"/urn:example:a")
		}))
		t.Cleanup(hook.Close)
		all[i] = r.Start(t, func(c *config.Config) {
			c.CDN = config.CDN{Tags: "Cache-Tag", Webhooks: []string{hook.URL}}
		})
		all[i].Target(t, "urn:example:a")
	}
	all[0].Change(t, "PATCH /api/v1/names?uri=urn:example:a", "application/merge-patch+json",
		`{"targets":[{"uri":"https://a.example/1"}]}`)
	for range all {
		if got := <-told; got != "https://a.example/1" {
			t.Errorf("an urnd that has told still leads to %s", got)
		}
	}
}

// locationOf returns the target of a redirect, or an error text.
func locationOf(ctx context.Context, address string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err.Error()
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err.Error()
	}
	_ = response.Body.Close()
	return response.Header.Get("Location")
}
