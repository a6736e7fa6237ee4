package registrytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// searched returns the names with a target that has a text, and how many entries were read.
func searched(t *testing.T, s registry.Store, target string, limit int, after string) (names []string, done registry.Searched) {
	t.Helper()
	done, err := registryIn(s).Search(t.Context(), registry.Search{Target: target, Limit: limit, After: after}, func(e registry.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		t.Fatalf("searching %s: %v", target, err)
	}
	return names, done
}

// hostNames is how many names the test of the index has: so many that not all of them are read in place of it.
const hostNames = 3000

func hostRecord(host string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: "https://" + host + "/x"}}}
}

// The names that a search by host finds are those whose current version has it, after each kind of change, and they alone are read.
func testHosts(t *testing.T, s registry.Store) {
	r := registryIn(s)
	actor := registry.Actor{Name: "admin", Role: registry.Admin}
	hosts := make(map[string]string) // of names
	host := func(i int) string { return fmt.Sprintf("h%d.example.org", i) }
	check := func(after string) {
		t.Helper()
		for i := range 300 {
			var want []string
			for name, h := range hosts {
				if h == host(i) {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			for _, text := range []string{"//" + host(i) + "/", "https://" + host(i), host(i)} {
				if len(want) == 0 && text == host(i) {
					continue // which is not known as a host: all are read
				}
				got, done := searched(t, s, text, 0, "")
				if !slices.Equal(got, want) || len(want) > 0 && done.Read > len(want)+20 {
					t.Errorf("after %s, %s: %q, want %q; %d were read", after, text, got, want, done.Read)
				}
			}
		}
	}
	set := func(of []registry.Changed) {
		for _, c := range of {
			hosts[c.After.Name] = ""
			for _, target := range c.After.Targets {
				hosts[c.After.Name] = target.URI[len("https://") : len(target.URI)-len("/x")]
			}
		}
	}
	change := func(n int, f func(i int, w *registry.Batch) error) {
		t.Helper()
		changes, err := r.Change(t.Context(), actor, func(_ registry.WriteTx, w *registry.Batch) error {
			for i := range n {
				if err := f(i, w); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		set(changes)
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	name := func(i int) string { return fmt.Sprintf("urn:example:%04d", i) }
	change(hostNames, func(i int, w *registry.Batch) error {
		_, _, err := w.Put(registry.Name(name(i)), hostRecord(host(i%300)), "")
		return err
	})
	check("an import")
	for range 40 {
		change(1+random.IntN(20), func(_ int, w *registry.Batch) error {
			_, _, err := w.Put(registry.Name(name(random.IntN(hostNames+100))), hostRecord(host(random.IntN(300))), "")
			return err
		})
	}
	check("changes")
	var gone []registry.Key
	for i := range 20 {
		key := registry.Name(name(i * 7))
		gone = append(gone, key)
		hosts[key.Name] = ""
	}
	write(t, s, func(tx registry.WriteTx) error { return registry.PurgeKeys(tx, gone) })
	check("a purge")
	e := lookup(t, s, registry.Name(name(1000)))
	change(1, func(_ int, w *registry.Batch) error {
		_, _, err := w.Put(e.Key, registry.Record{Status: registry.Withdrawn, Reason: "gone", Targets: e.Targets}, "")
		return err
	})
	check("a withdrawal")
	if err := r.Redact(t.Context(), actor, e.Key, []int{e.Version + 1}, "asked for"); err != nil {
		t.Fatal(err)
	}
	hosts[e.Name] = ""
	check("a redaction")
	forgetIndex(t, s)
	change(1, func(_ int, w *registry.Batch) error {
		_, _, err := w.Put(registry.Name(name(5)), hostRecord(host(7)), "")
		return err
	})
	if err := registry.IndexHosts(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	check("an upgrade")
	testHostPages(t, s, hosts)
}

// forgetIndex makes a store what it was before there was the index.
func forgetIndex(t *testing.T, s registry.Store) {
	t.Helper()
	write(t, s, func(tx registry.WriteTx) error {
		all, err := tx.Documents(registry.TableHosts, "", "", 100_000)
		for i := range all {
			all[i].Value = nil
		}
		if err == nil {
			err = tx.Put(registry.TableHosts, all)
		}
		return err
	})
}

// Pages of a search are the whole of it, and a domain is found by what is below it.
func testHostPages(t *testing.T, s registry.Store, hosts map[string]string) {
	var want []string
	for name, h := range hosts {
		if h == "h9.example.org" {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	var got []string
	for after := ""; len(got) < len(want); {
		page, done := searched(t, s, "//h9.example.org/", 3, after)
		if got = append(got, page...); done.Last == "" || len(page) == 0 {
			break
		}
		after = done.Last
	}
	if !slices.Equal(got, want) {
		t.Errorf("by pages: %q, want %q", got, want)
	}
	all := 0
	for _, h := range hosts {
		if h != "" {
			all++
		}
	}
	if found, _ := searched(t, s, "example.org", 0, ""); len(found) != all {
		t.Errorf("the domain has %d names, want %d", len(found), all)
	}
	if found, _ := searched(t, s, "9.example.org", 0, ""); len(found) == 0 {
		t.Error("a part of a host was not found")
	}
}
