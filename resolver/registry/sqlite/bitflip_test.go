package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// varied returns the path of a closed registry with all kinds of data that Verify reads: names with histories,
// aliases, prefixes, a change set of several transactions, redacted versions, and a purged sandbox.
func varied(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "registry.db")
	s := open(t, path)
	same := func(text string) (string, error) { return text, nil }
	second := int64(1_900_000_000)
	r := registry.New(registry.Config{Store: s, Canonical: same, CanonicalPrefix: same, Now: func() time.Time {
		second++
		return time.Unix(second, 0)
	}})
	anna := registry.Actor{Name: "anna", Role: registry.Admin}
	set := registry.ChangeSet{Kind: registry.KindImport, By: anna.Name, Note: "the whole catalogue", Time: r.Now()}
	for page := range 5 {
		must(t, s.Write(t.Context(), func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, anna.Name, r.Now())
			b.SetChangeSet(set)
			for i := range 100 {
				record := registry.Record{
					Targets: []registry.Target{{
						URI:  fmt.Sprintf("https://example.org/%d", i),
						Note: strings.Repeat("n", i),
					}},
					Metadata: `{"title":"Kalevala"}`, Contact: "mailto:anna@example.org",
				}
				if _, _, err := b.Put(testName(100*page+i), record, "catalogue"); err != nil {
					return err
				}
			}
			_, err := b.Flush()
			set = b.ChangeSet()
			return err
		}))
	}
	put := func(key registry.Key, record registry.Record) {
		t.Helper()
		_, err := r.Apply(t.Context(), anna,
			registry.Edit{Key: key, IfVersion: registry.AnyVersion, Note: "by hand", Change: registry.Put(record)})
		must(t, err)
	}
	for i := range 20 {
		put(registry.Name(fmt.Sprintf("urn:example:alias-%d", i)), registry.Record{Alias: testName(i).Name})
		put(testName(i), registry.Record{Targets: []registry.Target{{URI: "https://example.org/moved"}}})
	}
	put(registry.Prefix("urn:example:sandbox:"), registry.Record{Sandbox: true})
	for i := range 10 {
		put(registry.Name(fmt.Sprintf("urn:example:sandbox:%d", i)), registry.Record{Status: registry.Reserved})
		_, err := r.Redact(t.Context(), anna, testName(i), []int{1}, "by request")
		must(t, err)
	}
	_, err := r.Purge(t.Context(), anna, "urn:example:sandbox:", "")
	must(t, err)
	_, err = r.Revert(t.Context(), anna, registry.Revert{Set: 501, Note: "no alias"})
	must(t, err)
	closed(t, s)
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns the content of the tables that Verify covers.
func contents(ctx context.Context, s registry.Store) (string, error) {
	var b strings.Builder
	err := s.Read(ctx, func(tx registry.Tx) error {
		for after, more := registry.Seq(0), true; more; {
			events, err := tx.Events(after, 1000)
			if err != nil {
				return err
			}
			for _, e := range events {
				after = e.Seq
				fmt.Fprintf(&b, "%+v\n", e)
			}
			more = len(events) > 0
		}
		for _, kind := range []registry.Kind{registry.KindName, registry.KindPrefix} {
			current, err := tx.Current(kind, "", 100_000)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%+v\n", current)
		}
		commits, err := tx.Commits(0, 100_000)
		sets, err2 := tx.ChangeSets(0, 100_000)
		totals, err3 := tx.Totals()
		aliased, err4 := tx.Aliased("", "", 1000)
		fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%q\n", commits, sets, totals, aliased)
		return errors.Join(err, err2, err3, err4)
	})
	return b.String(), err
}

// readAndVerify returns the content of a file, and the problems that Verify reports. err is an error of either.
func readAndVerify(ctx context.Context, path string) (text string, failures []string, err error) {
	s, err := sqlite.OpenBackup(ctx, path)
	if err != nil {
		return "", nil, err
	}
	defer s.Close()
	err = s.Verify(ctx, func(failure string) { failures = append(failures, failure) }, func(_, _ registry.Seq) {})
	if err != nil || len(failures) > 0 {
		return "", failures, err
	}
	text, err = contents(ctx, s)
	return text, nil, err
}

// flips is how many bits TestFlippedBits flips, one at a time; URND_FLIPS overrides it.
const flips = 40

// A flipped bit of the file is either reported by Verify, or does not alter the content of the registry.
func TestFlippedBits(t *testing.T) {
	path := varied(t)
	data, err := os.ReadFile(path)
	must(t, err)
	want, failures, err := readAndVerify(t.Context(), path)
	if err != nil || len(failures) > 0 {
		t.Fatalf("%v, %v", failures, err)
	}
	n := flips
	if text := os.Getenv("URND_FLIPS"); text != "" {
		n, err = strconv.Atoi(text)
		must(t, err)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	copied := filepath.Join(t.TempDir(), "flipped.db")
	found, unseen := 0, 0
	for range n {
		at, bit := random.IntN(len(data)), random.IntN(8)
		data[at] ^= 1 << bit
		must(t, os.WriteFile(copied, data, 0o600))
		data[at] ^= 1 << bit
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		got, failures, err := readAndVerify(ctx, copied)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			t.Errorf("seed %d: bit %d of byte %d keeps Verify from its end", seed, bit, at)
		case err != nil || len(failures) > 0:
			found++
		case got != want:
			t.Errorf("seed %d: bit %d of byte %d is not found, and changes %s", seed, bit, at, difference(want, got))
		default:
			unseen++
		}
	}
	t.Logf("of %d bytes %d bits were flipped: %d are found, %d change nothing", len(data), n, found, unseen)
}

// difference returns the first pair of lines that differ.
func difference(a, b string) string {
	before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			return fmt.Sprintf("%.300s into %.300s", before[i], after[i])
		}
	}
	return "the end"
}
