package uri_test

import (
	"fmt"
	"testing"

	"github.com/urnd/urnd/uri"
)

func seed(f *testing.F) {
	f.Helper()
	for _, s := range []string{
		"", "urn:ietf:rfc:2648", "URN:a1:b%2c?+r?=q#f", "urn:a1:b?s=I2L&c=x", "HTTP://Example.COM:80/b/../%7Esmith",
		"http://u:p@[::1]:080/a//./..?q#f", "x:/.//a", "mailto:a@b", "//h/p", "?q", "http://%41%2F/%2e%2E/",
	} {
		f.Add(s)
	}
}

// FuzzParse: a parsed URI prints as itself and splits as in appendix B. Its normal form is stable, parses to
// itself, and is the result of the single steps.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.ParseReference(s)
		if err != nil {
			return
		}
		if u.String() != s {
			t.Fatalf("%q prints as %q", s, u)
		}
		checkAgainstAppendixB(t, u)
		normal := u.Normalize()
		if again := normal.Normalize(); again != normal {
			t.Fatalf("%q normalizes to %q, then to %q", s, normal, again)
		}
		reparsed, err := uri.ParseReference(normal.String())
		if err != nil || reparsed != normal {
			t.Fatalf("%q normalizes to %q, which parses with other parts: %v", s, normal, err)
		}
		steps := u
		for _, c := range u.ExplainNormalize() {
			steps = c.After
		}
		if steps != normal {
			t.Fatalf("%q normalizes to %q, step by step to %q", s, normal, steps)
		}
		if u.IsAbsolute() && !uri.Compare(u, normal).Equivalent() {
			t.Fatalf("%q is not equivalent to its normal form %q", s, normal)
		}
	})
}

// FuzzURN: the parts of a URN, joined, are the URN, and its name is the name of its normal form.
func FuzzURN(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := uri.ParseURN(s)
		u, parseErr := uri.Parse(s)
		if parseErr == nil {
			_, parseErr = u.URN()
		}
		if fmt.Sprint(err) != fmt.Sprint(parseErr) {
			t.Fatalf("%q: in one pass %v, in two %v", s, err, parseErr)
		}
		if err != nil {
			return
		}
		if two, _ := u.URN(); v != two {
			t.Fatalf("%q: in one pass %+v, in two %+v", s, v, two)
		}
		canonical, err := v.Canonical(uri.Folding{})
		if err != nil || canonical.URI() != v.Name().URI().Normalize() {
			t.Fatalf("%q is canonical as %q, %v", s, canonical.URI(), err)
		}
		reparsed, err := uri.ParseURN(canonical.URI().String())
		if err != nil || reparsed != canonical {
			t.Fatalf("%q is canonical as %q, which parses with other parts: %v", s, canonical.URI(), err)
		}
		text := s[:4] + v.NID() + ":" + v.NSS()
		r, hasR := v.R()
		q, hasQ := v.Q()
		if hasR {
			text += "?+" + r
		}
		if hasQ {
			text += "?=" + q
		}
		if query, ok := u.Query(); ok && !hasR && !hasQ {
			text += "?" + query
		}
		if fragment, ok := v.F(); ok {
			text += "#" + fragment
		}
		if text != s {
			t.Fatalf("%q, joined from its parts, is %q", s, text)
		}
		n, err := u.Normalize().URN()
		if err != nil || n.Name().URI() != v.Name().URI().Normalize() {
			t.Fatalf("%q: name and normal form do not commute: %v", s, err)
		}
		if err := v.Require(uri.RFC2141 | uri.CurrentURN); err != nil {
			t.Fatalf("%q has a part that conforms to no specification: %v", s, err)
		}
	})
}

// FuzzResolve: a target is absolute, and resolving it again changes nothing.
func FuzzResolve(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../../g")
	f.Add("x:a/b", "..//c")
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := uri.Parse(base)
		if err != nil {
			return
		}
		r, err := uri.ParseReference(ref)
		if err != nil {
			return
		}
		for _, p := range []uri.Profile{uri.RFC3986, uri.Draft, uri.DraftRemove} {
			target, err := b.Resolve(r, p)
			if err != nil {
				t.Fatalf("%q + %q: %v", base, ref, err)
			}
			if r.Path() == "" {
				continue // the path of the base is used unchanged, RFC 3986 section 5.2.2
			}
			if again, err := b.Resolve(target, p); err != nil || again != target {
				t.Fatalf("%q + %q: %q resolves to %q, %v", base, ref, target, again, err)
			}
		}
	})
}
