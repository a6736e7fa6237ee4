//go:build e2e

package names

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// TestRegistryAsHandles checks that names of the registry are also resolved as handles and DOIs, from the cache
// and after changes.
func TestRegistryAsHandles(t *testing.T) {
	t.Parallel()
	r := urndtest.NewRegistry(t, "urn:", "doi:10.5555/")
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: []registry.Target{
		{URI: "https://a.example/de", Language: "de", Context: "DE", Priority: 2},
		{URI: "https://a.example/1", Priority: 1},
		{URI: "https://a.example/rdf", Rel: "describedby"},
	}, Contact: "mailto:anna@example.org", Metadata: `{"title":"A"}`})
	r.Put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.Put(t, registry.Name("urn:example:gone"), registry.Record{Status: registry.Withdrawn, Reason: "merged"})
	r.Put(t, registry.Name("urn:example:reserved"), registry.Record{Status: registry.Reserved})
	r.Put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: urndtest.Targets("https://p.example/")})
	r.Put(t, registry.Prefix("urn:example:own:"), registry.Record{Authoritative: true})
	r.Put(t, registry.Name("doi:10.5555/x"), registry.Record{Targets: urndtest.Targets("https://doi.example/x")})
	w := r.Start(t, func(c *config.Config) {
		c.Registry.Owned = []string{"urn:", "doi:10.5555/"}
		c.Registry.Handles = []config.Handle{{Prefix: "20.500.1", Names: "URN:Example:"}, {Prefix: "10.5555"}}
		c.Namespaces = []config.Namespace{{
			NID:     "example",
			Targets: []config.Target{{Template: "https://rules.example/{nss}"}},
		}}
	})
	values := func(handle string) (status int, all string) {
		reply := w.Get(t, "/api/handles/"+handle)
		var of struct {
			Values []struct {
				Type string
				Data struct{ Value string }
			}
		}
		if err := json.Unmarshal([]byte(reply.Body), &of); err != nil {
			t.Errorf("%s: %v: %s", handle, err, reply.Body)
		}
		var texts []string
		for _, v := range of.Values {
			texts = append(texts, v.Type+" "+v.Data.Value)
		}
		return reply.Status, strings.Join(texts, "|")
	}
	for handle, want := range map[string]string{
		"20.500.1/a?type=URL&type=EMAIL&type=DESC": "URL https://a.example/1|URL https://a.example/de|EMAIL " +
			"anna@example.org|DESC A",
		"20.500.1/a?type=10320/loc": `10320/loc <locations><location id="0" href="https://a.example/1" weight="1"></location>` +
			`<location id="1" href="https://a.example/de" weight="0" country="de" language="de"></location>` +
			`<location id="2" href="https://a.example/rdf" weight="0" rel="describedby"></location></locations>`,
		"20.500.1/alias?type=URL&type=HS_ALIAS": "URL https://a.example/1|URL https://a.example/de|HS_ALIAS 20.500.1/a",
		"20.500.1/p:x":                          "URL https://p.example/x",
		"10.5555/X":                             "URL https://doi.example/x",
		"20.500.1/reserved":                     "",
	} {
		if status, got := values(handle); status != http.StatusOK || got != want {
			t.Errorf("%s: %d, %s\nwant %s", handle, status, got, want)
		}
	}
	for handle, want := range map[string]int{
		"20.500.1/own:x": 404, "20.500.1/ruled": 404, "10.5555/none": 404, "10.5556/x": 404, "20.500.1/gone": 410,
		"20.500.1": 400,
	} {
		if status, got := values(handle); status != want || got != "" {
			t.Errorf("%s: %d, %s", handle, status, got)
		}
	}
	r.Put(t, registry.Name("doi:10.5555/x"), registry.Record{Targets: urndtest.Targets("https://doi.example/new")})
	testserver.Wait(t, "the value changes with the name", func() bool {
		_, got := values("10.5555/x")
		return got == "URL https://doi.example/new"
	})
}
