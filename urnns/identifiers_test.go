package urnns_test

import (
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func TestIdentifiers(t *testing.T) {
	rows := append([]urnns.Identifier{{Pattern: `^shelf (?P<n>[0-9]+)$`, Template: "urn:library:shelf:{n}"}},
		urnns.BuiltinIdentifiers()...)
	table, err := urnns.NewIdentifiers(rows...)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"0-395-36341-1": "urn:isbn:0-395-36341-1", "9780395363416": "urn:isbn:9780395363416",
		"978 0 395 36341 6": "urn:isbn:978-0-395-36341-6", "ISBN 080442957x": "urn:isbn:080442957x",
		"ISBN-13: 978-0-395-36341-6": "urn:isbn:978-0-395-36341-6", "ISBN-10:0395363411": "urn:isbn:0395363411",
		"ISBN13 9780395363416": "urn:isbn:9780395363416", "eISBN 9780395363416": "urn:isbn:9780395363416",
		"e-ISBN: 9780395363416":                    "urn:isbn:9780395363416",
		"ISBN 10 0395363411":                       "urn:isbn:0395363411",
		"ISBN 1000000001":                          "urn:isbn:1000000001",
		"0-395-36341-1 (pbk.)":                     "urn:isbn:0-395-36341-1",
		"ISBN 0395363411 (hardcover : alk. paper)": "urn:isbn:0395363411", "e-ISSN: 1046-8188": "urn:issn:1046-8188",
		"eISSN 1046-8188": "urn:issn:1046-8188", "ISSN-L 1046-8188": "urn:issn:1046-8188",
		"p-ISSN:1046-8188 (print)": "urn:issn:1046-8188", "ISSN 1046-8188 (online) (2)": "",
		"1046-8188": "urn:issn:1046-8188", "ISSN: 1046-8188": "urn:issn:1046-8188", "03178471": "urn:issn:03178471",
		"10.1000/182": "urn:doi:10.1000/182", "doi:10.1000/182": "urn:doi:10.1000/182",
		"DOI: 10.1000/a<b>": "urn:doi:10.1000/a%3Cb%3E", "10.1002/a%3Cb%3E": "urn:doi:10.1002/a%3Cb%3E",
		"10.1000/5%":           "urn:doi:10.1000/5%25",
		"10.1000.10/x":         "urn:doi:10.1000.10/x",
		"10.1000/a?b#c%20d":    "urn:doi:10.1000/a%3Fb%23c%20d",
		"hdl:20.500.12345/abc": "hdl:20.500.12345/abc", "ark:/12148/btv1b8449691v": "ark:/12148/btv1b8449691v",
		"ark:12148/x1":    "ark:/12148/x1",
		"DOI 10.1000/182": "urn:doi:10.1000/182", "doi10.1000/182": "", "HDL 20.500.12345/abc": "hdl:20.500.12345/abc",
		"ARK 12148/x1":     "ark:/12148/x1",
		"shelf 7":          "urn:library:shelf:7",
		"20.500.12345/abc": "hdl:20.500.12345/abc", "21.T11148/x": "hdl:21.T11148/x", "info:hdl/2027/x": "hdl:2027/x",
		"2027/x": "", "1.0/x": "", "hdl:10.1000/182": "urn:doi:10.1000/182",
		"info:doi/10.1000/182": "urn:doi:10.1000/182",
		"NBN:fi:lib-1":         "urn:NBN:fi:lib-1",
		"about":                "", "https://doi.org/10.1000/182": "", "urn:isbn:0395363411": "", "12": "", "": "",
		"10.1000/": "",
	} {
		u, ok := table.URI(text)
		if ok != (want != "") || ok && u.String() != want {
			t.Errorf("%q: %s, want %q", text, u, want)
		}
	}
	for text, want := range map[string]string{
		"ark:/12345/x1%2Fp3": "ark:/12345/x1%2Fp3", "doi:10.1000/a%3Cb%3E": "urn:doi:10.1000/a%3Cb%3E",
		"hdl:20.500.9/a%25b": "hdl:20.500.9/a%25b", "ISBN-13:9780395363416": "urn:isbn:9780395363416",
		"doi:10.1000/a?b":  "urn:doi:10.1000/a%3Fb",
		"doi:%2010.1000/1": "", "doi:10.1000%2F182": "urn:doi:10.1000/182",
		"https://doi.org/10.1000%2f182": "urn:doi:10.1000/182", "doi:10.1000.10/x": "urn:doi:10.1000.10/x",
		"hdl:10.1000.10/x": "urn:doi:10.1000.10/x", "ark:/12345/x1?info": "ark:/12345/x1?info",
		"ark:12345/x1??":                     "ark:/12345/x1??",
		"ISBN:9780395363416#p%23":            "urn:isbn:9780395363416#p%23",
		"isbn:1#p":                           "",
		"ark:12345/x1#p?q":                   "ark:/12345/x1#p?q",
		"ark:12345/x1?info#p":                "ark:/12345/x1?info#p",
		"doi:10%2E1000/%61%7eb%2fc":          "urn:doi:10.1000/a~b%2Fc",
		"hdl:20%2e500%2E9%2Fa%2Fb":           "hdl:20.500.9/a%2Fb",
		"https://doi.org/10.1000/a%3Cb%3E":   "urn:doi:10.1000/a%3Cb%3E",
		"HTTP://DX.doi.org:80/10.1000/182#p": "urn:doi:10.1000/182#p",
		"https://doi.org/10.1000/182?x=1":    "", "https://doi.org/": "", "https://doi.org/about": "",
		"https://hdl.handle.net/2027/x":      "hdl:2027/x",
		"https://hdl.handle.net/10.1000/182": "urn:doi:10.1000/182", "https://n2t.net/ark:/12345/x1": "ark:/12345/x1",
		"https://portal.issn.org/resource/ISSN/1046-8188": "urn:issn:1046-8188",
		"https://openlibrary.org/isbn/9780395363416":      "urn:isbn:9780395363416",
		"https://nbn-resolving.org/urn:nbn:de:101:1-1":    "urn:nbn:de:101:1-1",
		"https://urn.kb.se/resolve?urn=urn:nbn:se:kb-1":   "urn:nbn:se:kb-1",
		"https://urn.fi/URN:NBN:fi:lib-1":                 "URN:NBN:fi:lib-1",
		"https://example.org/10.1000/182":                 "",
	} {
		parsed, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := table.FromURI(parsed); ok != (want != "") || ok && u.String() != want {
			t.Errorf("%q as a URI: %s, want %q", text, u, want)
		}
	}
	if _, err := urnns.NewIdentifiers(urnns.Identifier{Pattern: "("}); err == nil {
		t.Error("an invalid pattern is accepted")
	}
	if _, err := urnns.NewIdentifiers(urnns.Identifier{Template: "{"}); err == nil {
		t.Error("an invalid template is accepted")
	}
	var none *urnns.Identifiers
	if _, ok := none.URI("10.1000/182"); ok {
		t.Error("no table has a row")
	}
	for text, want := range map[string]string{
		"ark:/12345/x1?info": "https://n2t.net/ark:/12345/x1?info", "ark:/12345/x1": "https://n2t.net/ark:/12345/x1",
		"hdl:20.500.9/a%25b": "https://hdl.handle.net/20.500.9/a%25b", "hdl:2027/x": "https://hdl.handle.net/2027/x",
		"hdl:x": "", "urn:doi:10.1000/182": "", "https://a.example/": "",
	} {
		parsed, err := uri.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := table.Location(parsed); got != want || ok != (want != "") {
			t.Errorf("the public resolver of %s: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"DOI:10.5555/": "urn:doi:10.5555/", "doi:": "urn:doi:",
		"hdl:20.": "hdl:20.", "urn:doi:": "",
	} {
		if got, ok := table.PrefixURI(text); got != want || ok != (want != "") {
			t.Errorf("what begins with %s begins with %q, want %q", text, got, want)
		}
	}
}
