package resolver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
	"github.com/urnd/urnd/urnns/digitallink"
)

// Any set of the specifications of URNs can be accepted.
func TestNamesAccept(t *testing.T) {
	for name, want := range map[string]uri.Conformance{
		"urn:example:a": uri.RFC2141 | uri.CurrentURN, "urn:example:a/b": uri.RFC8141,
		"urn:example:a?s=I2L": uri.DraftURN, "urn:a-:b": uri.RFC2141, "http://a/": uri.RFC2141 | uri.CurrentURN,
	} {
		for accept := uri.Conformance(1); accept <= uri.RFC2141|uri.CurrentURN; accept++ {
			_, err := resolver.Names{Set: builtin(t), Accept: accept}.CanonicalName(query(t, name).URI)
			if (err == nil) != (accept&want != 0) || err != nil && !errors.As(err, new(*uri.ParseError)) {
				t.Errorf("%s, where %s are accepted: %v", name, accept.Names(), err)
			}
		}
	}
}

// The trace has the rules that an accepted name breaks.
func TestWarnings(t *testing.T) {
	isbn, _ := builtin(t).Lookup("isbn")
	isbn.Lenient = true
	set, err := urnns.NewSet(append(urnns.Builtin(), isbn)...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: set, Accept: uri.CurrentURN}
	for name, want := range map[string]string{
		"urn:isbn:0-395-36341-1": "", "urn:isbn:0-395-36341-2": "check digit", "urn:x-a:b": "experimental-nid",
		"http://a/": "",
	} {
		var got []string
		for _, warning := range names.Warnings(query(t, name)) {
			got = append(got, warning.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", name, got)
		}
		ctx, trace := resolver.WithTrace(t.Context(), time.Now)
		if _, err := resolver.NewCanonical(names, &stub{answer: located("http://a/", 1)}).Resolve(ctx,
			query(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if steps := fmt.Sprint(trace.Steps()); strings.Contains(steps, "warning") != (want != "") ||
			!strings.Contains(steps, want) {
			t.Errorf("%s: %s", name, steps)
		}
	}
}

// Identifiers without "urn:" that are equivalent by RFC 3986 section 6.2.2 have one canonical name, which excludes
// their fragment.
func TestCanonicalIdentifiers(t *testing.T) {
	table, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{
		Set: builtin(t), Accept: uri.CurrentURN, Identifiers: table, RegisteredPrefixes: resolver.AllPrefixes(),
	}
	for text, want := range map[string]string{
		"doi:10%2E1000/1": "urn:doi:10.1000/1", "doi:10.1000/a%7eb": "urn:doi:10.1000/a~b",
		"hdl:20.500%2E9%2Fa": "hdl:20.500.9/a", "ark:/12345/x%31": "ark:/12345/x1",
		"ark:/12345/x1#p": "ark:/12345/x1", "https://n2t.net/ark:12345/x1#p": "ark:/12345/x1",
		"ark:12345/x1?info#p": "ark:/12345/x1", "isbn:9780395363416#p": "urn:isbn:9780395363416",
		"https://any.example/a/../%61rk:12345/x/../y": "ark:/12345/y", "https://names.example%2E/a": "https://names.example/a",
	} {
		name, err := names.CanonicalName(query(t, text).URI)
		if err != nil || name.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, name, err, want)
		}
		if again, err := names.CanonicalName(name); err != nil || again != name {
			t.Errorf("%s: %s, and again %s, %v", text, name, again, err)
		}
	}
}

// Equivalent spellings of the path or port of a root lead to the same identifier in a web address.
func TestSpellingsOfRoot(t *testing.T) {
	root, err := digitallink.NewRoot("https://id.example/id/", digitallink.GS1())
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN, Roots: digitallink.Roots{root}}
	for _, below := range []string{
		"https://id.example/id/", "https://id.example/%69d/", "https://ID.example/a/../id/", "https://id.example:0443/id/",
		"http://id.example./%69d/",
	} {
		name, err := names.CanonicalName(query(t, below+"01/9506000134352").URI)
		if err != nil || name.String() != "https://id.example/id/01/09506000134352" {
			t.Errorf("below %s: %s, %v", below, name, err)
		}
	}
}

// FuzzKey: two identifiers have the same key if and only if they are equivalent. The second is an edited copy
// of the first, so that many pairs are equivalent. Fragments of URLs are ignored, since keys have none.
func FuzzKey(f *testing.F) {
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		f.Fatal(err)
	}
	names := resolver.Names{Set: set, Accept: uri.RFC2141 | uri.CurrentURN}
	for _, s := range []string{
		"http://b\u00fccher.example/a/b?q#f", "urn:isbn:0-395-36341-1", "urn:ietf:params:a:B",
		"urn:nbn:de:bsz:21-Opus%2f1", "urn:example:a?+r?=q",
		"ftp://u@h/%2Fa;type=A", "file://localhost/a", "mailto:a@B.example?c=d", "news:a.b", "gopher://h/1a%09b",
		"x://A:b:c/%7e/..", "x:/.//a", "urn:oid:1.2.3",
	} {
		if u, err := uri.FromIRI(s); err == nil {
			s = u.String()
		}
		f.Add(s, []byte{0, 9, 18, 27}, "")
		f.Add(s, []byte{1, 44, 21, 6, 3}, s)
	}
	f.Fuzz(func(t *testing.T, first string, edits []byte, second string) {
		if second == "" {
			second = edited(first, edits)
		}
		a, b, ok := parsePair(first, second)
		if !ok {
			return
		}
		keyA, errA := names.CanonicalName(a)
		keyB, errB := names.CanonicalName(b)
		if errA != nil || errB != nil {
			return
		}
		if !a.IsURN() {
			a = a.WithoutFragment()
		}
		if !b.IsURN() {
			b = b.WithoutFragment()
		}
		if c := set.Compare(uri.ObjectiveNaming, a, b); c.Equivalent() != (keyA == keyB) {
			t.Fatalf("%q and %q have the keys %q and %q: %s, %s", a, b, keyA, keyB, c.Rung, c.Reason)
		}
		if again, err := names.CanonicalName(keyA); err != nil || again != keyA {
			t.Fatalf("%q has the key %q, and that %q, %v", a, keyA, again, err)
		}
		if reparsed, err := uri.Parse(keyA.String()); err != nil || reparsed != keyA {
			t.Fatalf("%q has the key %q, which parses with other parts: %v", a, keyA, err)
		}
	})
}

func parsePair(first, second string) (a, b uri.URI, ok bool) {
	a, errA := uri.Parse(first)
	b, errB := uri.Parse(second)
	return a, b, errA == nil && errB == nil
}

// edited returns s after small edits, some of which keep it equivalent.
func edited(s string, edits []byte) string {
	for _, e := range edits {
		if s == "" {
			return s
		}
		at := int(e>>3) % len(s)
		before, b, after := s[:at], s[at:at+1], s[at+1:]
		switch e & 7 {
		case 0:
			if lower := strings.ToLower(b); lower != b {
				b = lower
			} else {
				b = strings.ToUpper(b)
			}
		case 1:
			b = fmt.Sprintf("%%%02x", b)
		case 2:
			b += "./"
		case 3:
			b += "-"
		case 4:
			b = ""
		case 5:
			after += "#f"
		case 6:
			b += "a/../"
		case 7:
			after += "?+r"
		}
		s = before + b + after
	}
	return s
}

// A prefix is in canonical form, or rejected if the text that follows would change it.
func TestCanonicalPrefix(t *testing.T) {
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN}
	for text, want := range map[string]string{
		"URN:Example:a": "urn:example:a", "urn:isbn:978-3-": "urn:isbn:9783",
		"urn:nbn:DE:BSZ:": "urn:nbn:de:bsz:", "urn:nbn:DE:BSZ:21-A": "urn:nbn:de:bsz:21-A",
		"HTTPS://Example.org/A": "https://example.org/A", "ark:/12345/": "ark:/12345/",
		"https://example.org": "", "https://example.org:4": "", "https://example.org/%7": "", "urn:x": "",
	} {
		got, err := names.CanonicalPrefix(text)
		if got != want || (want == "") != errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
