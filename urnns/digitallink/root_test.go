package digitallink_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns/digitallink"
)

func rootAt(t testing.TB, url string, scheme *digitallink.Scheme) digitallink.Root {
	t.Helper()
	root, err := digitallink.NewRoot(url, scheme)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// GS1 Digital Link URI Syntax section 4.11: the part before the key is the stem. Names below it have a normal
// form: section 4.12.
func TestRoots(t *testing.T) {
	roots := digitallink.Roots{
		rootAt(t, "https://ID.example.org/stem/", digitallink.GS1()),
		rootAt(t, "https://dpp.example.org/", digitallink.DataIdentifiers()),
	}
	const item = "https://id.example.org/stem/01/09506000134352"
	for _, test := range []struct{ text, want, rule string }{
		{item, item, ""},
		{"HTTPS://ID.EXAMPLE.ORG.:443/stem/01/9506000134352/?17=261200", item, ""},
		{item + "/21/a%2fb", item + "/21/a%2Fb", ""},
		{item + "/21/%41!", item + "/21/A%21", ""},
		{
			"https://id.example.org/stem/eh30164596f40c0e5cbe991a83?x=y",
			"https://id.example.org/stem/01/09528765123457/21/123456789123", "",
		},
		{
			"https://id.example.org/stem/exMBZFlvQMDly-mRqD/",
			"https://id.example.org/stem/01/09528765123457/21/123456789123", "",
		},
		{"https://id.example.org/stem/foo", "", "path"},
		{"https://id.example.org/stem/gtin/09506000134352", "", "primary key"},
		{"https://id.example.org/stem/eh30", "", "EPC"},
		{item + "/./10/a", "", "path"},
		{item + "/21/..", "", "serial (21)"},
		{item + "/21/%2E", "", "serial (21)"},
		{"https://id.example.org/stem/", "", "none"},
		{"https://id.example.org/01/09506000134352", "", "none"},
		{"https://id.example.org:8443/stem/01/09506000134352", "", "none"},
		{"https://a@id.example.org/stem/01/09506000134352", "", "none"},
		{"http://id.example.org/stem/01/09506000134352", "", "none"},
		// ISO/IEC 18975: the codes of data identifiers have a dot in a query.
		{"https://dpp.example.org/?.25P=LHABC%2F1&.S=42&x=y", "https://dpp.example.org/25P/LHABC%2F1/S/42", ""},
		{"https://dpp.example.org/25P/LHABC%2F1/1T/7/S/42", "https://dpp.example.org/25P/LHABC%2F1/1T/7/S/42", ""},
		{"https://dpp.example.org/?.S=42&.25P=LHABC", "", "primary key"},
		{"https://dpp.example.org/?.25P=", "", "query"},
		{"https://dpp.example.org/?x=y", "", "none"},
	} {
		u, err := uri.ParseRaw(test.text)
		if err != nil {
			t.Fatal(err)
		}
		root := roots.Find(u)
		if root == nil {
			if test.rule != "none" {
				t.Errorf("%s is below no root", test.text)
			}
			continue
		}
		l, err := root.Parse(u)
		var failure *uri.ParseError
		switch {
		case test.rule == "" && (err != nil || root.Name(l) != test.want):
			t.Errorf("%s is %s, %v", test.text, root.Name(l), err)
		case test.rule != "" && (!errors.As(err, &failure) || failure.Rule.Name != test.rule):
			t.Errorf("%s: %v, want %s", test.text, err, test.rule)
		}
	}
	for _, url := range []string{
		"http://a.example/", "https://a.example/x", "https://a.example:8443/",
		"https://a.example/?x", "a",
	} {
		if _, err := digitallink.NewRoot(url, digitallink.GS1()); err == nil {
			t.Errorf("%s is a root", url)
		}
	}
}

func TestLabel(t *testing.T) {
	l, err := digitallink.GS1().Parse("/01/09506000134352/10/a%2Fb/21/s", "")
	if err != nil || l.Label() != "GTIN 09506000134352, lot a/b, serial s" || l.Item().Path() != "/01/09506000134352" {
		t.Errorf("%s, %v", l.Label(), err)
	}
	for _, name := range digitallink.SchemeNames() {
		if s := digitallink.SchemeOf(name); s == nil || len(s.Codes()) == 0 ||
			strings.Contains(strings.Join(s.Codes(), ""), ",") {
			t.Errorf("%s: %v", name, s)
		}
	}
	if digitallink.SchemeOf("x") != nil {
		t.Error("there is a scheme of any name")
	}
}
