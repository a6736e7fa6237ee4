package urnns_test

import (
	"encoding/json"
	"fmt"
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
		if row.Title == "" || len(row.Title) > 80 || !strings.HasSuffix(row.Description, ".") ||
			len(row.Description) > 130 {
			t.Errorf("%s: %q, %q: a title, and one short sentence", row.NID, row.Title, row.Description)
		}
		if row.Example != "" {
			if name, err := set.Canonical(mustURN(t, row.Example)); err != nil || name.NID() != row.NID {
				t.Errorf("%s: the example %s: %v", row.NID, row.Example, err)
			}
		}
		if row.Check != "" && row.Check != "ddi" && row.Check != "smpte" && row.Check != "gsma" || row.Strip != "" {
			continue // its vectors have canonical names
		}
		name, err := set.Canonical(mustURN(t, "URN:"+strings.ToUpper(row.NID)+":AbC:dEf-GhI"))
		if want := "urn:" + row.NID + ":" + folded[row.Fold]; err != nil || name.URI().String() != want {
			t.Errorf("%s: canonical %q, %v; want %q", row.NID, name.URI(), err, want)
		}
	}
	if !slices.IsSorted(nids) || len(slices.Compact(nids)) != len(rows) {
		t.Error("the rows are not sorted, or a NID has two rows")
	}
}

// TestReadmeCounts requires that README.md has the numbers of the table.
func TestReadmeCounts(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, located := urnns.Builtin(), 0
	for _, row := range rows {
		if len(row.Targets) > 0 {
			located++
		}
	}
	want := fmt.Sprintf("the %d registered namespaces are built in, and for %d of them where their names lead",
		len(rows), located)
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("README.md lacks: %s", want)
	}
}

// RFC 8141 section 3.1: in all rows, equivalent names stay equivalent.
func TestRulesOnlyMerge(t *testing.T) {
	set := newSet(t)
	for _, nid := range set.NIDs() {
		for _, nss := range []string{
			"a123,z456", "A-b:C%2cd", "10.5240:7791-8534-2c23-9030-8610-5", "rfc:2648",
			"0-395-36341-1", "1046-8188", "fi-fe1", "1.2.3",
		} {
			a, b := mustURN(t, "urn:"+nid+":"+nss),
				mustURN(t, "URN:"+strings.ToUpper(nid)+":"+strings.ReplaceAll(nss, "%2c", "%2C")+"?+r#f")
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

// Pairs of names that are equivalent by the specifications of their namespaces, and pairs that are not.
func TestFolds(t *testing.T) {
	set := newSet(t)
	for _, tt := range []struct {
		a, b  string
		equal bool
	}{
		{"urn:uci:I001+SBSi-B10000083052", "urn:uci:i001+sbsi-B10000083052", true}, // RFC 4179
		{"urn:uci:I001+SBSi-B10000083052", "urn:uci:I001+SBSi-b10000083052", false},
		{"urn:3gpp2:MEID:A", "urn:3gpp2:meid:a", true},
		{"urn:adid:abcd0001000h", "urn:adid:ABCD0001000H", true},
		{"urn:alert:source:internal@example.com", "urn:alert:Source:Internal@Example.com", true},
		{"urn:ieee:std:802.1Q", "urn:ieee:std:802.1q", true},
		{"urn:smpte:ul:060E2B34.01040101", "urn:smpte:UL:060e2b34.01040101", true},
		{"urn:smpte:umid:060A", "urn:smpte:umid:060a", false},
		{"urn:ddi:US.mpc:A:1", "urn:ddi:us.mpc:A:1", true},
		{"urn:ddi:us.mpc:A:1", "urn:ddi:us.mpc:a:1", false},
		{"urn:ogf:Network:a", "urn:ogf:network:a", true},
		{"urn:ogf:network:A", "urn:ogf:network:a", false},
		{"urn:gsma:imei:90420156-025763-0;vers=0", "urn:gsma:IMEI:90420156-025763-0", true}, // RFC 7254
		{"urn:gsma:imei:90420156-025763-0;svn=42;vers=0", "urn:gsma:imei:90420156-025763-0;svn=42", true},
		{"urn:gsma:imei:90420156-025763-0;vers=01", "urn:gsma:imei:90420156-025763-0", false},
		{"urn:gsma:imei:90420156-025763-0;vers=1", "urn:gsma:imei:90420156-025763-0", false},
	} {
		a, errA := set.Canonical(mustURN(t, tt.a))
		b, errB := set.Canonical(mustURN(t, tt.b))
		if errA != nil || errB != nil || (a == b) != tt.equal {
			t.Errorf("%s and %s: %s and %s, %v, %v", tt.a, tt.b, a.URI(), b.URI(), errA, errB)
		}
		if again, err := set.Canonical(a); err != nil || again != a {
			t.Errorf("%s is not canonical: %s, %v", a.URI(), again.URI(), err)
		}
	}
}

func TestFirstKey(t *testing.T) {
	set := newSet(t)
	for name, want := range map[string]string{
		"urn:ddi:us.mpc:A:1": "mpc.us.ddi", "urn:ddi:int.example.sub:1": "sub.example.int.ddi", "urn:ddi:a": "a.ddi",
		"urn:ietf:rfc:1": "ietf", "urn:unknown:1": "unknown",
	} {
		if got := set.FirstKey(mustURN(t, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
