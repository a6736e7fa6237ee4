//go:build e2e

package names

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestARKs checks that ARKs of the site are described by their inflections according to the settings, and that
// those of others are redirected to their resolver with their inflection.
func TestARKs(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("ark:/12345/x1"),
		registry.Record{Targets: urndtest.Targets("https://a.example/x1"), Metadata: `{"title":"A","creator":"B"}`})
	r.Put(t, registry.Name("ark:/12345/gone"),
		registry.Record{Status: registry.Withdrawn, Reason: "why", Metadata: `{"title":"C"}`})
	r.Put(t, registry.Prefix("ark:/12345/p/"), registry.Record{Targets: urndtest.Targets("https://p.example/")})
	const elsewhere = "https://elsewhere.example/"
	w := r.Start(t, func(c *config.Config) {
		c.Registry.Owned = []string{"urn:", "ark:/12345/"}
		c.ARK = config.ARK{
			SupportWho: "D", SupportWhat: "Not Guaranteed", SupportWhen: "2031",
			SupportWhere: "https://a.example/policy",
		}
		c.Resolve.Fallback = elsewhere + "{+urn}"
	})
	const support = "\nerc-support:\nwho: D\nwhat: Not Guaranteed\nwhen: 2031\nwhere: https://a.example/policy\n"
	for target, want := range map[string]struct {
		status int
		body   string
	}{
		"/ark:/12345/x1?info":   {200, "erc:\nwho: B\nwhat: A\nwhen: (:unkn)\nwhere: ark:/12345/x1\n" + support},
		"/ark:12345/x-1?":       {200, "erc:\nwho: B\nwhat: A\nwhen: (:unkn)\nwhere: ark:/12345/x1\n"},
		"/ark:/12345/gone?info": {410, "what: C\n"},
		"/ark:/12345/p/x?info":  {200, "where: ark:/12345/p/x\n" + support},
		"/ark:/12345/none?info": {404, ""},
		"/.well-known/ark":      {200, "/\n"},
	} {
		for range 2 { // from the store, and from the cache
			reply := w.Get(t, target)
			plain := strings.HasPrefix(reply.Header.Get("Content-Type"), "text/plain")
			if reply.Status != want.status || plain != (want.body != "") || !strings.Contains(reply.Body, want.body) {
				t.Errorf("%s: %d %v\n%s", target, reply.Status, reply.Header, reply.Body)
			}
		}
	}
	for target, want := range map[string]string{
		"/ark:/12345/x1":            "302 https://a.example/x1",
		"/ark:/12345/p/x":           "302 https://p.example/x",
		"/ark:/12345/none":          "404",
		"/ark:/98765/x":             "302 https://n2t.net/ark:/98765/x",
		"/ark:98765/x?info":         "302 https://n2t.net/ark:/98765/x?info",
		"/ark:/98765/x%2Fp3":        "302 https://n2t.net/ark:/98765/x%2Fp3",
		"/?uri=ark:/98765/x%252Fp3": "302 https://n2t.net/ark:/98765/x%2Fp3",
		"/ark:/98765/x?":            "302 https://n2t.net/ark:/98765/x?",
		"/ark:/98765/x??":           "302 https://n2t.net/ark:/98765/x??",
		"/urn:nobody:x":             "302 " + elsewhere + "urn:nobody:x",
		"/uri-res/N2L?ark:9/x":      "404",
	} {
		if got := w.At(t, http.MethodGet, "localhost", target); got != want {
			t.Errorf("%s is %s, want %s", target, got, want)
		}
	}
}
