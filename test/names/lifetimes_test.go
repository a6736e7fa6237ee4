//go:build e2e

package names

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

var aLifetime = regexp.MustCompile(`(?:max-age|s-maxage|ttl)=(-?\d+)`)

// TestLifetimes checks that every answer has a lifetime from its records or from the settings: positive,
// negative and withdrawn ones, of every system, by every service.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	const registryTTL, ruleTTL, recordTTL = 100, 200, 300 // in seconds
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"),
		registry.Record{
			Targets:  urndtest.Targets("https://a.example/1", "https://a.example/2"),
			Metadata: `{"title":"A"}`,
		})
	r.Put(t, registry.Name("urn:example:bounded"), registry.Record{Targets: []registry.Target{{
		URI:   "https://a.example/",
		Until: time.Now().Add(50 * time.Second),
	}}})
	r.Put(t, registry.Name("urn:example:alias"), registry.Record{Alias: "urn:example:a"})
	r.Put(t, registry.Name("urn:example:lost"), registry.Record{Alias: "urn:example:nobody"})
	r.Put(t, registry.Name("urn:example:reserved"), registry.Record{Status: registry.Reserved})
	r.Put(t, registry.Name("urn:example:gone"),
		registry.Record{Status: registry.Withdrawn, Reason: "why", Targets: urndtest.Targets("https://a.example/1")})
	r.Put(t, registry.Prefix("urn:example:p:"), registry.Record{Targets: urndtest.Targets("https://p.example/")})
	r.Put(t, registry.Prefix("urn:example:own:"), registry.Record{Authoritative: true})
	r.Put(t, registry.Prefix("urn:example:below:"), registry.Record{Status: registry.Withdrawn, Reason: "why"})
	r.Put(t, registry.Name("ark:/12345/x"), registry.Record{Targets: urndtest.Targets("https://ark.example/x")})
	r.Put(t, registry.Name("ark:/12345/gone"), registry.Record{Status: registry.Withdrawn, Reason: "why"})
	bind := testserver.StartBIND(t, testserver.Zone{
		Name: "urn.example.org",
		Text: "$TTL 300\n@ IN SOA ns hostmaster 1 60 60 60 300\n@ IN NS ns\nns IN A 127.0.0.1\n" +
			`found IN NAPTR 10 10 "u" "http+I2L" "!^.*$!https://dns.example/!" .` + "\n",
	})
	w := urndtest.Start(t, bind.Addr(), func(c *config.Config) {
		c.Registry.Store, c.Registry.TTL, c.Resolve.RuleTTL = "sqlite:"+r.Path, registryTTL*time.Second,
			ruleTTL*time.Second
		c.Registry.Owned = []string{"urn:", "ark:/12345/"}
		c.DDDS.Enabled = true
		c.Access.ProxyClients = append(c.Access.ProxyClients, netip.MustParsePrefix("127.0.0.0/8"))
		c.Namespaces = []config.Namespace{{
			NID:     "rule",
			Targets: []config.Target{{Template: "https://rules.example/{nss}"}},
		}}
	})
	for name, most := range map[string]int{
		"urn:example:a": registryTTL, "urn:example:bounded": 50, "urn:example:alias": registryTTL,
		"urn:example:reserved": registryTTL,
		"urn:example:gone":     registryTTL,
		"urn:example:lost":     registryTTL, "urn:example:p:x": registryTTL, "urn:example:own:x": registryTTL,
		"urn:example:below:x": registryTTL, "ark:/12345/x": registryTTL, "ark:/12345/gone": registryTTL,
		"ark:/12345/none": registryTTL, "ark:/99999/x": ruleTTL, "urn:example:none": recordTTL,
		"urn:found:x": recordTTL, "urn:none:x": recordTTL,
		"urn:rule:x":         recordTTL,
		"urn:ietf:rfc:2648":  recordTTL,
		"urn:ietf:none":      recordTTL,
		"http://a.example/x": ruleTTL, "x-none:y": ruleTTL,
	} {
		for _, path := range []string{
			"/" + name, "/?uri=" + name, "/uri-res/N2L?" + name, "/uri-res/N2Ls?" + name, "/uri-res/N2C?" + name,
			"/uri-res/N2Ns?" + name,
			"/uri-res/I=I?" + name + "%20" + name,
			"/api/v1/resolve?uri=" + name, "/api/v1/resolve?service=I2C&uri=" + name,
			"/api/v1/resolve?service=I2Ns&uri=" + name, "/api/v1/explain?uri=" + name,
			"/api/v1/resolve?uri=" + name + "&at=2001-01-01", "/api/v1/resolve?uri=" + name + "&at=2199-01-01",
		} {
			for range 2 { // also stored answers
				reply := w.Get(t, path, "Accept: application/json")
				fields := reply.Header.Get("Cache-Control") + " " + reply.Header.Get("Cache-Status")
				var document struct {
					TTL int `json:"ttl"`
				}
				_ = json.Unmarshal([]byte(reply.Body), &document) // other formats are not JSON
				fields += " ttl=" + strconv.Itoa(document.TTL)
				for _, found := range aLifetime.FindAllStringSubmatch(fields, -1) {
					if seconds, err := strconv.Atoi(found[1]); err != nil || seconds < 0 ||
						seconds > max(most, ruleTTL) || strings.HasPrefix(path,
						"/"+name) && seconds > most {
						t.Errorf("%s: %d with %s, want at most %d", path, reply.Status, fields, most)
					}
				}
			}
		}
	}
}

// TestClientTTL checks that clients get registry.client_ttl if set, from the registry and from the cache, by
// both paths, but for no target beyond its validity; the cache uses registry.ttl.
func TestClientTTL(t *testing.T) {
	t.Parallel()
	const registryTTL, clientTTL = 1000, 5000 // in seconds
	r := urndtest.NewRegistry(t)
	r.Put(t, registry.Name("urn:example:a"), registry.Record{Targets: urndtest.Targets("https://a.example/1")})
	r.Put(t, registry.Name("urn:example:bounded"), registry.Record{Targets: []registry.Target{{
		URI:   "https://a.example/",
		Until: time.Now().Add(500 * time.Second),
	}}})
	r.Put(t, registry.Name("urn:example:gone"), registry.Record{Status: registry.Withdrawn, Reason: "why"})
	r.Put(t, registry.Prefix("urn:example:own:"), registry.Record{Authoritative: true})
	w := r.Start(t, func(c *config.Config) {
		c.Registry.TTL, c.Registry.ClientTTL = registryTTL*time.Second, clientTTL*time.Second
		c.Registry.Owned = []string{"urn:", "ark:/12345/"}
	})
	maxAge, inCache := regexp.MustCompile(`^max-age=(\d+)$`), regexp.MustCompile(`ttl=(\d+)`)
	between := func(text []string, least, most int) bool {
		if len(text) < 2 {
			return false
		}
		seconds, err := strconv.Atoi(text[1])
		return err == nil && least <= seconds && seconds <= most
	}
	for name, want := range map[string][2]int{
		"urn:example:a": {clientTTL, clientTTL}, "urn:example:gone": {clientTTL, clientTTL},
		"urn:example:own:x": {clientTTL, clientTTL}, "ark:/12345/none": {clientTTL, clientTTL},
		"urn:example:bounded": {400, 500},
	} {
		for _, path := range []string{"/" + name, "/uri-res/N2L?" + name, "/api/v1/resolve?uri=" + name} {
			for range 3 { // the last ones are from the cache
				header := w.Get(t, path).Header
				if lifetime := header.Get("Cache-Control"); !between(maxAge.FindStringSubmatch(lifetime), want[0],
					want[1]) {
					t.Errorf("%s: Cache-Control: %s, want %d", path, lifetime, want)
				}
				if state := header.Get("Cache-Status"); !between(inCache.FindStringSubmatch(state), 0, registryTTL) {
					t.Errorf("%s: Cache-Status: %s", path, state)
				}
			}
		}
	}
}
