package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// identifierRoot is where identifiers in web addresses begin.
const identifierRoot = "https://id.example"

// identifierOf is the table of identifiers in web addresses, by what follows the item.
func identifierOf(name, path string) (resolver.Answer, error) {
	record := &resolver.Record{Name: name, Version: 1, Changed: time.Unix(946684000, 0), Status: "active", Redirect: 307, Links: []resolver.Link{
		{URI: "https://a.example/pip", Rel: "gs1:pip"},
	}}
	from := func(language string) *resolver.Source {
		return &resolver.Source{Name: "registry", Record: record, Language: language}
	}
	locations := []resolver.Location{{URI: "https://a.example" + path, From: from("")}}
	switch path {
	case "/21/multi":
		record.IsChoice = true
		record.Links = append(record.Links, resolver.Link{URI: "https://a.example/fr", Rel: "gs1:defaultLinkMulti", Language: "fr"})
	case "/21/languages":
		locations = []resolver.Location{{URI: "https://a.example/en", From: from("en")}, {URI: "https://a.example/de", From: from("de")}}
	case "/21/mirrors":
		locations = append(locations, resolver.Location{URI: "https://b.example" + path, From: from("")})
	case "/21/sandbox":
		record.Sandbox = true
	case "/21/none":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the table says so", TTL: time.Hour, Record: record}
	case "/21/withdrawn":
		record.Links, record.Status = nil, "withdrawn"
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, Reason: "the table says so", TTL: time.Hour, Record: record}
	case "/21/unknown":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the table says so", TTL: time.Hour}
	}
	return resolver.Answer{Locations: locations, TTL: time.Hour}, nil
}

// identifiers are requests for identifiers in web addresses, each of which is asked twice.
func identifiers() []dialog {
	const item = "/01/09506000134352"
	targets := []string{
		item, item + "/", item + "?x=%c3%A4", item + "?linkType=gs1:pip", item + "?linkType=linkset", item + "?linkType=gs1:none", "/01/9506000134352", "/01/09506000134351",
		"/foo", "/", "/?x", "/ark:/12345/x1", "/ark:12345/x1?info", "/.well-known/gs1resolver", "/robots.txt", item + "/21/a%2fb", item + "/21/a%2Fb", item + "/21/.5", item + "/21/%2E%2E", item + "/./21/a",
		"/x/.." + item, "/%30%31/09506000134352", "/eh30164596f40c0e5cbe991a83", item + "/21/s/10/l", item + "/21/a|b", item + "#f", "//01/09506000134352",
	}
	for _, name := range []string{"multi", "languages", "mirrors", "sandbox", "none", "withdrawn", "unknown", "serial"} {
		targets = append(targets, item+"/21/"+name, item+"/21/"+name+"?linkType=gs1:pip")
	}
	var all []dialog
	for _, target := range targets {
		for _, lines := range []string{
			"Accept: */*", "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Language: de-AT, fr;q=0.5", "Accept: application/linkset+json", "Accept: application/ld+json, text/turtle",
			"Accept: application/json", "Origin: https://b.example",
		} {
			for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
				request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: id.example\r\n%s\r\n\r\n", method, target, lines)
				all = append(all, dialog{packets: []packet{{request, 0}, {request + strings.Replace(request, "id.example", "ID.example:443", 1), 0}}})
			}
		}
	}
	return all
}

// Identifiers in web addresses are answered from the cache as they are without the fast path, and plain requests are.
func TestFastPathIsInvisibleToIdentifiers(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	all := identifiers()
	for _, name := range []string{"plain", "behind a proxy"} {
		i := slices.IndexFunc(variants(), func(v *variant) bool { return v.name == name })
		answered := 0
		for _, d := range all {
			answered += compare(t, filled, variants()[i], d)
			if t.Failed() {
				t.FailNow()
			}
		}
		if answered < 90 {
			t.Errorf("%s: only %d are answered on the fast path", name, answered)
		}
	}
}
