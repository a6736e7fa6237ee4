package bulk_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// texts are texts that formats could corrupt.
var texts = []string{
	"", "", "", "a", "two words", " blank ", "comma, semicolon; tab\t", "\"quoted\" \"\"", "lines\nand\r\nmore\r", "\r",
	"=1+1", "Käse \u2028 日本", "\ufeffmark", "null", "true", `\n \u0041 \`, "<b>&amp;",
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// randomRecord returns a record that Check would return.
func randomRecord(r *rand.Rand, key registry.Key) registry.Record {
	record := registry.Record{
		Contact: pick(r, texts), Redirect: pick(r, []int{0, 0, 301, 302, 303, 307, 308}),
		Sandbox: r.IntN(8) == 0,
	}
	if key.Kind == registry.KindPrefix {
		record.Authoritative = r.IntN(2) == 0
	}
	if r.IntN(3) == 0 {
		record.Metadata = pick(r,
			[]string{`{}`, `{"title":"a, \"b\"\n<&>"}`, `{"a":[1,2.50,{"b":null}]}`, `{"k\u00e4se":"\u2028"}`})
	}
	switch record.Status = pick(r,
		[]registry.Status{registry.Active, registry.Active, registry.Reserved, registry.Withdrawn}); record.Status {
	case registry.Withdrawn:
		record.Reason = "why" + pick(r, texts)
		for range r.IntN(3) {
			record.Successors = append(record.Successors, fmt.Sprintf("urn:nbn:fi:s-%d", r.IntN(9)))
		}
	case registry.Active:
		if key.Kind == registry.KindName && r.IntN(5) == 0 {
			record.Alias = fmt.Sprintf("urn:nbn:fi:z-%d", r.IntN(3)) // no names begin so
			return record
		}
	}
	least := 0
	if key.Kind == registry.KindName && record.Status == registry.Active {
		least = 1 // an active name needs a target
	}
	for range least + r.IntN(4) {
		t := registry.Target{
			URI:      fmt.Sprintf("https://example.org/a?b=%d&c=%%20;$,\"", r.IntN(4)),
			Type:     pick(r, []string{"", "text/html", "application/pdf; a=\"b,c\""}),
			Language: pick(r, []string{"", "fi", "en-GB"}), Priority: r.IntN(5) - 2, Note: pick(r, texts),
		}
		t.URI = strings.TrimSuffix(t.URI, "\"")
		if r.IntN(3) == 0 {
			t.From = epoch.Add(time.Duration(r.IntN(1e6)) * time.Millisecond)
		}
		if r.IntN(3) == 0 {
			t.Until = epoch.Add(time.Duration(2e6+r.IntN(1e6)) * time.Millisecond)
		}
		record.Targets = append(record.Targets, t)
		if r.IntN(9) == 0 {
			record.Targets = append(record.Targets, t) // a duplicate
		}
	}
	return record
}

// fill makes versions of names and prefixes by several users, some seconds apart.
func fill(t testing.TB, r *rand.Rand, versions int) *registry.Registry {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	now := epoch.Add(-24 * time.Hour)
	of := registryOf(t, store, func() time.Time { now = now.Add(1234 * time.Millisecond); return now })
	for range versions {
		key := registry.Name(fmt.Sprintf("urn:nbn:fi:a-%d", r.IntN(versions/3)))
		if r.IntN(6) == 0 {
			key = registry.Prefix(fmt.Sprintf("urn:nbn:fi:p%d:", r.IntN(9)))
		}
		actor := registry.Actor{Name: pick(r, []string{"anna", "bo \"b\"", "uid 1,2"}), Role: registry.Admin}
		record := randomRecord(r, key)
		_, err := of.Apply(t.Context(), actor,
			registry.Edit{
				Key: key, IfVersion: registry.AnyVersion, Note: pick(r, texts), Activate: true,
				Change: registry.Put(record),
			})
		// Some were assigned before.
		if err != nil && (record.Status != registry.Reserved || !errors.Is(err, registry.ErrInvalid)) {
			t.Fatalf("%s: %v of %+v", key, err, record)
		}
	}
	return of
}

func exported(t testing.TB, r *registry.Registry, o bulk.ExportOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := bulk.Export(t.Context(), &b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ownVersions returns an export without version numbers, which start again in another registry.
func ownVersions(o bulk.ExportOptions, text string) string {
	if o.History {
		return text
	}
	return regexp.MustCompile(`(?m)"if_version":\d+,|^(urn:nbn:fi:[^,\t]+[,\t](?:true)?[,\t])\d+`).ReplaceAllString(text, "$1")
}

// Export, import and another export give the same bytes, in all formats, with history and without. Importing
// again changes nothing.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(3) {
		source := fill(t, rand.New(rand.NewPCG(seed, 1)), 150)
		history := exported(t, source, bulk.ExportOptions{History: true})
		for _, o := range []bulk.ExportOptions{
			{Format: bulk.NDJSON, History: true},
			{Format: bulk.CSV, History: true},
			{Format: bulk.TSV, History: true},
			{Format: bulk.NDJSON},
			{Format: bulk.CSV},
			{Format: bulk.TSV},
		} {
			t.Run(fmt.Sprintf("%d %s %t", seed, o.Format, o.History), func(t *testing.T) {
				first := exported(t, source, o)
				into := open(t)
				for i, want := range []int64{0, int64(strings.Count(history, "\n"))} {
					report, rejected := imported(t, bulk.Import{Registry: into, Format: o.Format}, first)
					if len(rejected) > 0 {
						t.Fatalf("rejected: %v of %s", rejected[0], first)
					}
					if i == 1 && (report.New+report.Changed != 0 || o.History && report.Unchanged != want) {
						t.Errorf("the second import has %+v, want %d unchanged", report, want)
					}
					if second := exported(t, into, o); ownVersions(o, second) != ownVersions(o, first) {
						t.Fatalf("exported was\n%s\nand after an import\n%s", first, second)
					}
				}
				if got := exported(t, into, bulk.ExportOptions{History: true}); o.History && got != history {
					t.Errorf("the history is\n%s\nwant\n%s", got, history)
				}
			})
		}
	}
}
