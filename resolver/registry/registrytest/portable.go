package registrytest

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// portable returns the lines of a portable backup of a store.
func portable(t *testing.T, s registry.Store) []string {
	t.Helper()
	var b bytes.Buffer
	last := int64(0)
	err := registry.WritePortable(t.Context(), &b, s, epoch, func(done, all int64) {
		if done < last || done > all {
			t.Errorf("progress: %d of %d after %d", done, all, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutSuffix(b.String(), "\n")
	if !ok {
		t.Errorf("the last line has no end: %q", text)
	}
	return strings.Split(text, "\n")
}

// A portable backup has all kinds of rows, change sets and documents, in their order, each version by the present name.
func testPortable(t *testing.T, s registry.Store) {
	empty := []string{
		fmt.Sprintf(`{"format":"urnd-registry","version":1,"head":0,"made":%q}`, "2030-03-17T17:46:40Z"),
		`{"end":{"lines":1}}`,
	}
	mustEqual(t, portable(t, s), empty)

	// 1 has no row, and 2 and 3 are versions and 4 a purge as they were written before there was a tree.
	old := registry.Name("urn:example:old")
	first := entry(old.Name, 1, 0)
	second := registry.Entry{Key: old, Version: 2, Changed: epoch, Record: registry.Record{Since: epoch, Status: registry.Reserved}}
	write(t, s, func(tx registry.WriteTx) error {
		return tx.Append([]registry.Row{
			{Seq: 2, Key: old, Octets: registry.Encode(first)},
			{Seq: 3, Prev: 2, Key: old, Octets: registry.Encode(second)},
			{Seq: 4, Key: registry.Name("urn:example:purged")},
		})
	})
	untreed := portable(t, s) // all is a change set that is not written yet
	r := registryIn(s)
	admin := registry.Actor{Name: "anna", Role: registry.Admin}
	set := registry.ChangeSet{Kind: registry.KindImport, By: "anna", Note: "<all> & \u2028", Time: epoch}
	for i := range 2 { // the set has 5 and 7
		write(t, s, func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, "anna", epoch)
			b.Into(set)
			if _, _, err := b.Put(registry.Name(fmt.Sprintf("ark:/1/x-%d", i)), registry.Record{Contact: "a"}, "from <x>"); err != nil {
				return err
			}
			_, err := b.Flush()
			set = b.Set()
			return err
		})
		put(t, s, registry.Prefix(fmt.Sprintf("urn:example:test%d:", i)), registry.Record{Sandbox: true, Pattern: "[0-9]+"}) // 6 and 8
	}
	for _, to := range []string{"ark:/1/y0", "ark:/1/z0"} { // 9 and 10
		from := registry.Name("ark:/1/x-0")
		if to == "ark:/1/z0" {
			from = registry.Name("ark:/1/y0")
		}
		if err := rename(t, s, from, registry.Name(to)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, registry.Name("ark:/1/x-0"), registry.Record{Contact: "anew"})                      // 11
	if err := rename(t, s, registry.Name("ark:/1/x-0"), registry.Name("ark:/1/w0")); err != nil { // 12
		t.Fatal(err)
	}
	put(t, s, registry.Name("ark:/1/x-0"), registry.Record{Contact: "again"})                                // 13
	put(t, s, registry.Name("urn:example:test0:a"), registry.Record{Contact: "secret"})                      // 14
	put(t, s, registry.Name("urn:example:alias"), registry.Record{Alias: "ark:/1/z0"})                       // 15
	if _, err := r.Redact(t.Context(), admin, registry.Name("ark:/1/z0"), []int{1}, "privacy"); err != nil { // 16
		t.Fatal(err)
	}
	if _, err := r.Purge(t.Context(), admin, "urn:example:test0:", "over"); err != nil { // 17 and 18
		t.Fatal(err)
	}
	whole := registry.Entry{Key: registry.Name("urn:example:whole"), Version: 1, Changed: epoch, By: "b", Note: "n", Record: registry.Record{
		Status: registry.Withdrawn, Since: epoch.AddDate(0, 0, -1), Reason: "r", Successors: []string{"urn:example:b"}, Metadata: "{\"a\": 1.0}", Redirect: 301,
		Authoritative: true, Targets: []registry.Target{
			{URI: "https://a.example/?a&b", Type: "text/html", Language: "fi", Priority: -3, From: time.UnixMilli(0), Note: "m", Rel: "item", Title: "ä", Context: "FI"},
			{URI: "https://b.example/", Until: epoch},
		},
	}}
	appended(t, s, whole) // 19
	write(t, s, func(tx registry.WriteTx) error {
		for table := registry.TableTokens; table <= registry.TableMarks; table++ {
			documents := []registry.Document{{Key: "b", Value: []byte(`{"ä":"<\"`)}, {Key: "a 1"}}
			documents[1].Value = []byte{}
			if err := tx.Put(table, documents); err != nil {
				return err
			}
		}
		return nil
	})
	if got := portable(t, s)[1]; got != untreed[1] {
		t.Errorf("the first change set, in a tree and not yet in one:\n%s\n%s", got, untreed[1])
	}
	salted := regexp.MustCompile(`"leaf":"[0-9a-f]*[1-9a-f][0-9a-f]*"`)
	got := portable(t, s)
	for i := range got {
		got[i] = salted.ReplaceAllString(got[i], `"leaf":"LEAF"`)
	}
	mustEqual(t, got, portableLines(t))
}

func mustEqual(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("line %d is missing: %s", i+1, want[i])
		case i >= len(want):
			t.Errorf("line %d: %s", i+1, got[i])
		case got[i] != want[i]:
			t.Errorf("line %d is\n%s, want\n%s", i+1, got[i], want[i])
		}
	}
}

// portableLines returns the lines that the backup of testPortable has.
func portableLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../registrytest/testdata/portable.ndjson") // tests of stores are in their folders
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
