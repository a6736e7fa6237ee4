package urnns_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Each line of the file is whole, in order, and becomes the row it says.
func TestIANA(t *testing.T) {
	text, err := os.ReadFile("iana.tsv")
	if err != nil {
		t.Fatal(err)
	}
	set := newSet(t)
	folded := map[string]string{"none": "AbC:dEf-GhI", "lower": "abc:def-ghi", "first": "abc:dEf-GhI"}
	var nids []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 4 || slices.Contains(fields, "") {
			t.Fatalf("%q has not four fields", line)
		}
		nid, fold, target, source := fields[0], fields[1], fields[2], fields[3]
		nids = append(nids, nid)
		ns, ok := set.Lookup(nid)
		if !ok || ns.Source != source || (len(ns.Targets) > 0) != (target != "-") || ns.Check != nil {
			t.Errorf("%s: %+v", nid, ns)
		}
		name, err := set.Canonical(mustURN(t, "URN:"+strings.ToUpper(nid)+":AbC:dEf-GhI"))
		if want := "urn:" + nid + ":" + folded[fold]; err != nil || name.URI().String() != want {
			t.Errorf("%s: canonical %q, %v; want %q", nid, name.URI(), err, want)
		}
	}
	if !slices.IsSorted(nids) || len(slices.Compact(nids)) != len(nids) {
		t.Error("the lines are not in order, or one NID has two")
	}
}

// The registry of 2025-07-02 has 90 formal namespaces.
func TestEveryFormalNamespace(t *testing.T) {
	if got := len(newSet(t).NIDs()); got != 90 {
		t.Errorf("%d namespaces", got)
	}
}

// RFC 8141 section 3.1: over all rows, what is equivalent stays so, and a rule
// merges at least one pair or says nothing.
func TestRulesOnlyMerge(t *testing.T) {
	set := newSet(t)
	for _, nid := range set.NIDs() {
		for _, nss := range []string{"a123,z456", "A-b:C%2cd", "10.5240:7791-8534-2c23-9030-8610-5", "rfc:2648", "0-395-36341-1", "1046-8188", "fi-fe1", "1.2.3"} {
			a, b := mustURN(t, "urn:"+nid+":"+nss), mustURN(t, "URN:"+strings.ToUpper(nid)+":"+strings.ReplaceAll(nss, "%2c", "%2C")+"?+r#f")
			if !uri.Compare(a.URI(), b.URI()).Equivalent() {
				t.Fatalf("%s and %s are not equivalent by RFC 8141", a.URI(), b.URI())
			}
			x, errX := set.Canonical(a)
			y, errY := set.Canonical(b)
			if x != y || (errX == nil) != (errY == nil) {
				t.Errorf("%s and %s have the keys %s and %s (%v, %v)", a.URI(), b.URI(), x.URI(), y.URI(), errX, errY)
			}
		}
	}
}

func TestBuiltinIsNew(t *testing.T) {
	urnns.Builtin()[0].NID = "changed"
	if urnns.Builtin()[0].NID == "changed" {
		t.Error("rows are shared between callers")
	}
}
