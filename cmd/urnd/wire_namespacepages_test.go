package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/urnns"
)

// Pages show the effective configuration of namespaces, and name none of its servers.
func TestSpaces(t *testing.T) {
	c := config.Default()
	c.Site.Examples = []string{"ISSN 0028-0836", "URN:NBN:de:101:1-201102033592"}
	c.Registry.Store, c.Registry.Owned = "sqlite:names.db", []string{"urn:library:a:", "ark:/12345/"}
	c.Namespaces = []config.Namespace{
		{NID: "Library", Targets: []config.Target{{Template: "https://internal.example/{+nss}"}}},
		{NID: "isbn", Targets: []config.Target{{Template: "https://catalogue.internal.example/{nss}"}}},
		{NID: "uuid", THTTP: []string{"http://resolver.internal.example"}},
	}
	all := spaces(c)
	byNID := make(map[string]pages.Namespace)
	for _, ns := range all {
		byNID[ns.NID] = ns
	}
	if len(all) != len(urnns.Builtin())+1 ||
		!slices.IsSortedFunc(all, func(a, b pages.Namespace) int { return strings.Compare(a.NID, b.NID) }) {
		t.Errorf("%d namespaces", len(all))
	}
	for nid, want := range map[string]struct{ systems, hosts, example string }{
		"library": {"registry namespace ddds", "", ""},
		"isbn":    {"namespace ddds", "", "urn:isbn:9780395363416"},
		"uuid":    {"thttp ddds namespace", "", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		"issn":    {"namespace ddds", "portal.issn.org", "urn:issn:1046-8188"},
		"doi":     {"namespace ddds", "doi.org", "urn:doi:10.1000/182"},
		"nbn":     {"namespace ddds", strings.Join(byNID["nbn"].Hosts, " "), "URN:NBN:de:101:1-201102033592"},
		"3gpp":    {"ddds namespace", "", ""},
	} {
		ns := byNID[nid]
		if strings.Join(ns.Systems, " ") != want.systems || strings.Join(ns.Hosts, " ") != want.hosts ||
			ns.Example != want.example {
			t.Errorf("%s: %+v", nid, ns)
		}
	}
	if !slices.Contains(byNID["nbn"].Hosts, "urn.fi") || byNID["library"].Source != "" || !byNID["library"].HasRule ||
		byNID["3gpp"].HasRule {
		t.Errorf("%+v", byNID)
	}
	design, err := pagesOf(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range pages.Languages() {
		const most = 30_000
		list := design.In(l).Namespaces("", "")
		if home := design.In(l).Home(false); len(list.Body) > most || len(home.Body) > 8<<10 {
			t.Errorf("%s: the list has %d bytes, the front page %d", l.Tag(), len(list.Body), len(home.Body))
		}
		for _, ns := range all {
			page, ok := design.In(l).Namespace(ns.NID, 0)
			if text := string(page.Body); !ok || len(text) > most || strings.Contains(text, "internal.example") ||
				strings.Contains(text, "<dd></dd>") || strings.Contains(text, "<div></div>") {
				t.Errorf("%s: %s", ns.NID, text)
			}
		}
	}
}

// A check unknown to the page would be missing there.
func TestChecksOfSpaces(t *testing.T) {
	known := strings.Fields("ddi eidr gsma ietf isan isbn isni issn lei lex nbn oid smpte uuid")
	for _, ns := range urnns.Builtin() {
		if ns.Check != "" && !slices.Contains(known, ns.Check) {
			t.Errorf("%s: say on pages.Namespace what %s checks, and here that it does", ns.NID, ns.Check)
		}
	}
}
