package urnns_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func TestConfiguredNamespace(t *testing.T) {
	set := newSet(t, urnns.Namespace{
		NID: "example", Fold: urnns.FoldLower, Pattern: `^(?P<kind>[a-z]+):(?P<id>.+)$`, Source: "configuration",
		Targets: []urnns.Target{
			{Pattern: `^book:`, Template: "https://books.example/{id}{?kind}"},
			{Template: "https://example.org/{+urn}"},
		},
	})
	name, err := set.Canonical(mustURN(t, "URN:EXAMPLE:Book:A%2f1"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := leads(set, name)
	want := []string{"https://books.example/a%252F1?kind=book", "https://example.org/urn:example:book:a%2F1"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("targets %q, %v", got, err)
	}
	if _, err := set.Canonical(mustURN(t, "urn:example:1")); err == nil || !strings.Contains(err.Error(), "offset 12") {
		t.Errorf("a name outside the pattern: %v", err)
	}
}

// leads returns the locations of a name, without a component.
func leads(set *urnns.Set, name uri.URN) ([]string, error) {
	var uris []string
	found, err := set.AppendTargets(nil, name, "")
	for _, lead := range found {
		uris = append(uris, lead.URI)
	}
	return uris, err
}

// A name is gone if the first target that matches it is Gone.
func TestGone(t *testing.T) {
	set := newSet(t, urnns.Namespace{NID: "book", Targets: []urnns.Target{
		{Pattern: "^found:", Template: "https://books.example/{nss}"},
		{Pattern: "^(found|lost):", Gone: true},
		{Template: "https://all.example/{nss}"},
	}})
	for name, want := range map[string]string{
		"urn:book:found:1": "https://books.example/found%3A1 https://all.example/found%3A1", "urn:book:lost:1": "",
		"urn:book:1": "https://all.example/1",
	} {
		got, err := leads(set, mustURN(t, name))
		if strings.Join(got, " ") != want || errors.Is(err, urnns.ErrGone) != (want == "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestFallback(t *testing.T) {
	f, err := urnns.NewFallback("https://fallback.example/{+urn}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Location(mustURN(t, "urn:unknown:a%2Fb")); err != nil ||
		got != "https://fallback.example/urn:unknown:a%2Fb" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := urnns.NewFallback("{"); err == nil {
		t.Error("an invalid template is accepted")
	}
}

func TestOverrideBuiltin(t *testing.T) {
	set := newSet(t, urnns.Namespace{NID: "ietf", Targets: []urnns.Target{{Template: "https://mirror.example/{nss}"}}})
	got, err := leads(set, mustURN(t, "urn:ietf:rfc:1"))
	if err != nil || !slices.Equal(got, []string{"https://mirror.example/rfc%3A1"}) {
		t.Errorf("targets %q, %v", got, err)
	}
}

func TestNewSetReportsEveryError(t *testing.T) {
	_, err := urnns.NewSet(
		urnns.Namespace{NID: "urn"},
		urnns.Namespace{NID: "a1", Pattern: "("},
		urnns.Namespace{NID: "a2", Targets: []urnns.Target{{Template: "{"}}},
		urnns.Namespace{NID: "a3", Targets: []urnns.Target{{Pattern: "("}}},
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, nid := range []string{`"urn"`, `"a1"`, `"a2"`, `"a3"`} {
		if !strings.Contains(err.Error(), nid) {
			t.Errorf("%v does not name %s", err, nid)
		}
	}
}

func TestUnknownNamespace(t *testing.T) {
	set := newSet(t)
	name, err := set.Canonical(mustURN(t, "URN:Unknown:A-b%2c#f"))
	if err != nil || name.URI().String() != "urn:unknown:A-b%2C" {
		t.Errorf("canonical %q, %v", name.URI(), err)
	}
	if got, err := set.AppendTargets(nil, name, ""); got != nil || err != nil {
		t.Errorf("targets %v, %v", got, err)
	}
	if _, ok := set.Lookup("unknown"); ok {
		t.Error("an unknown namespace has a row")
	}
	if ns, ok := set.Lookup("ietf"); !ok || ns.Source == "" {
		t.Error("ietf has no row with a source")
	}
}

// The directive "c" is a variable, which is undefined without the directive.
func TestTargetComponent(t *testing.T) {
	set := newSet(t, urnns.Namespace{
		NID:     "book",
		Targets: []urnns.Target{{Template: "https://books.example/{nss}{?c}"}},
	})
	for component, want := range map[string]string{
		"ToC": "https://books.example/1?c=ToC",
		"":    "https://books.example/1",
	} {
		if got, err := set.AppendTargets(nil, mustURN(t, "urn:book:1"), component); err != nil || got[0].URI != want {
			t.Errorf("%q: %v, %v", component, got, err)
		}
	}
}

func TestSetCompare(t *testing.T) {
	set := newSet(t)
	for _, tt := range []struct {
		a, b string
		rung uri.Rung
	}{
		{"urn:isbn:0395363411", "urn:isbn:0-395-36341-1", uri.RungNamespace},
		{"urn:ietf:rfc:1", "URN:IETF:RFC:1", uri.RungNamespace},
		{"urn:ietf:rfc:1", "URN:IETF:rfc:1", uri.RungName},
		{"urn:nbn:fi-a", "urn:nbn:fi-A", uri.RungDifferent},
		{"urn:isbn:0395363412", "urn:isbn:0-395-36341-2", uri.RungDifferent},
		{"urn:isbn:0395363411", "http://a/", uri.RungDifferent},
		{"http://a", "http://a/", uri.RungScheme},
	} {
		a, err := uri.Parse(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := uri.Parse(tt.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Compare(uri.ObjectiveNaming, a, b); got.Rung != tt.rung || got.Reason == "" {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.rung)
		}
	}
}

// Step 5b of the draft applies together with the rules of namespaces.
func TestSetCompareForCaching(t *testing.T) {
	set := newSet(t)
	for _, tt := range []struct {
		a, b string
		rung uri.Rung
	}{
		{"urn:isbn:0395363411?s=I2L&c=x", "urn:isbn:0-395-36341-1?c=x&s=I2L#f", uri.RungNamespace},
		{"urn:isbn:0395363411?s=I2L", "urn:isbn:0-395-36341-1", uri.RungDifferent},
		{"urn:isbn:0395363411?+r", "urn:isbn:0-395-36341-1?+r", uri.RungNamespace},
		{"urn:isbn:0395363411?c=%2f", "URN:isbn:9780395363416?c=%2F", uri.RungFunctional},
	} {
		a, b := mustURN(t, tt.a).URI(), mustURN(t, tt.b).URI()
		if got := set.Compare(uri.ObjectiveCaching, a, b); got.Rung != tt.rung ||
			got != set.Compare(uri.ObjectiveCaching, b, a) {
			t.Errorf("%s and %s: %v, want %v", tt.a, tt.b, got, tt.rung)
		}
	}
}

// A lenient namespace accepts names that fail its check, and Warning returns the error.
func TestLenient(t *testing.T) {
	isbn, _ := newSet(t).Lookup("isbn")
	isbn.Lenient = true
	set := newSet(t, isbn)
	for nss, warned := range map[string]bool{"0-395-36341-1": false, "0-395-36341-2": true, "not-a-number": true} {
		v := mustURN(t, "urn:isbn:"+nss)
		name, err := set.Canonical(v)
		want := "urn:isbn:" + strings.ToUpper(strings.ReplaceAll(nss, "-", ""))
		if err != nil || name.URI().String() != want {
			t.Errorf("%s: %s, %v", nss, name.URI(), err)
		}
		var warning *uri.ParseError
		if err := set.Warning(v); errors.As(err, &warning) != warned {
			t.Errorf("%s: warning %v", nss, err)
		}
	}
	if err := newSet(t).Warning(mustURN(t, "urn:isbn:1")); err != nil {
		t.Errorf("Doubt of a strict namespace: %v", err)
	}
}

// A namespace that is lenient with check digits rejects all other errors.
func TestLenientDigits(t *testing.T) {
	lenient := newSet(t)
	nbn, _ := lenient.Lookup("nbn")
	nbn.LenientDigits = false
	strict := newSet(t, nbn)
	for name, want := range map[string]struct{ strict, lenient, warned bool }{
		"urn:nbn:de:bvb:19-146642": {true, true, false},
		"urn:nbn:de:bvb:19-146643": {false, true, true},
		"urn:nbn:d:bvb:19-146642":  {false, false, true},
	} {
		v := mustURN(t, name)
		_, refused := strict.Canonical(v)
		_, err := lenient.Canonical(v)
		if (refused == nil) != want.strict || (err == nil) != want.lenient ||
			(lenient.Warning(v) != nil) != want.warned {
			t.Errorf("%s: %v, %v, %v", name, refused, err, lenient.Warning(v))
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	set := newSet(b)
	for _, s := range []string{
		"urn:example:a123,z456", "URN:EXAMPLE:a%2cb:c", "urn:ietf:rfc:2648",
		"URN:ISBN:0-395-36341-1",
	} {
		b.Run(s, func(b *testing.B) {
			v := mustURN(b, s)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := set.Canonical(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
