package urnns_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Each row of the file is complete, in order, and has known fields only.
func TestIANA(t *testing.T) {
	f, err := os.Open("iana.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoder := json.NewDecoder(f)
	decoder.DisallowUnknownFields()
	var rows []urnns.Namespace
	if err := decoder.Decode(&rows); err != nil {
		t.Fatal(err)
	}
	set := newSet(t)
	folded := map[urnns.Fold]string{
		urnns.FoldNone: "AbC:dEf-GhI", urnns.FoldLower: "abc:def-ghi", urnns.FoldUpper: "ABC:DEF-GHI",
		urnns.FoldFirst: "abc:dEf-GhI", urnns.FoldPrefix: "abc:def-GhI",
	}
	var nids []string
	for _, row := range rows {
		nids = append(nids, row.NID)
		if ns, ok := set.Lookup(row.NID); !ok || row.Source == "" || ns.Source != row.Source || ns.Fold != row.Fold {
			t.Errorf("%s: %+v", row.NID, ns)
		}
		if row.Check != "" || row.Strip != "" {
			continue // its file of vectors has its canonical names
		}
		name, err := set.Canonical(mustURN(t, "URN:"+strings.ToUpper(row.NID)+":AbC:dEf-GhI"))
		if want := "urn:" + row.NID + ":" + folded[row.Fold]; err != nil || name.URI().String() != want {
			t.Errorf("%s: canonical %q, %v; want %q", row.NID, name.URI(), err, want)
		}
	}
	if !slices.IsSorted(nids) || len(slices.Compact(nids)) != len(rows) {
		t.Error("the rows are not sorted, or a NID has two rows")
	}
	if len(rows) != 96 { // the registry of 2026-05-28
		t.Errorf("%d namespaces", len(rows))
	}
}

// RFC 8141 section 3.1: in all rows, equivalent names stay equivalent.
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
