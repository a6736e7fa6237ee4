package urnns_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

func newSet(t testing.TB, more ...urnns.Namespace) *urnns.Set {
	t.Helper()
	set, err := urnns.NewSet(append(urnns.Builtin(), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func mustURN(t testing.TB, s string) uri.URN {
	t.Helper()
	u, err := uri.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := u.URN()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// canonical returns the canonical name, also in the form of the vector files.
func canonical(set *urnns.Set, v uri.URN) (uri.URN, string) {
	name, err := set.Canonical(v)
	var parseErr *uri.ParseError
	if errors.As(err, &parseErr) {
		return name, fmt.Sprintf("error %d %s", parseErr.Offset, parseErr.Rule.Name)
	}
	if err != nil {
		return name, err.Error()
	}
	return name, name.URI().String()
}

// Every namespace with a check has a file of vectors with its name. Others may have one.
func TestVectors(t *testing.T) {
	set := newSet(t)
	for _, nid := range set.NIDs() {
		t.Run(nid, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", nid+".tsv"))
			if ns, _ := set.Lookup(nid); ns.Check == "" && errors.Is(err, fs.ErrNotExist) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := 0
			for lines := bufio.NewScanner(f); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "# ") {
					continue
				}
				fields := strings.Split(lines.Text(), "\t")
				if len(fields) != 3 {
					t.Fatalf("%q: want three fields", lines.Text())
				}
				n++
				checkVector(t, set, fields[0], fields[1], fields[2])
			}
			if n == 0 {
				t.Error("no vectors")
			}
		})
	}
}

func checkVector(t *testing.T, set *urnns.Set, in, want, location string) {
	t.Helper()
	name, got := canonical(set, mustURN(t, in))
	if got != want {
		t.Errorf("%s: canonical %q, want %q", in, got, want)
	}
	if strings.HasPrefix(want, "error") {
		return
	}
	if again, err := set.Canonical(name); err != nil || again != name {
		t.Errorf("%s: canonical twice gives %q, %v", in, again.URI(), err)
	}
	locations, err := leads(set, name)
	if err != nil {
		t.Errorf("%s: %v", in, err)
	}
	if got := append(locations, "-")[0]; got != location {
		t.Errorf("%s: location %q, want %q", in, got, location)
	}
}

// RFC 8141 section 3.1: a namespace may only merge more names.
func FuzzCanonicalMerges(f *testing.F) {
	set := newSet(f)
	for _, nid := range set.NIDs() {
		f.Add("urn:"+nid+":A-b%2c1", "URN:"+nid+":A-b%2C1")
	}
	f.Add("urn:isbn:0-395-36341-1", "URN:ISBN:0-395-36341-1")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, errX := parseURN(a)
		y, errY := parseURN(b)
		if errX != nil || errY != nil || !uri.Compare(x.URI(), y.URI()).Equivalent() {
			return
		}
		cx, errX := set.Canonical(x)
		cy, errY := set.Canonical(y)
		if cx != cy || (errX == nil) != (errY == nil) {
			t.Errorf("%q and %q are equivalent but have the keys %q and %q (%v, %v)", a, b, cx.URI(), cy.URI(),
				errX, errY)
		}
	})
}

func parseURN(s string) (uri.URN, error) {
	u, err := uri.Parse(s)
	if err != nil {
		return uri.URN{}, err
	}
	return u.URN()
}
