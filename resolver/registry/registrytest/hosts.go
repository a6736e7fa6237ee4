package registrytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// searched returns the names with a target that contains a text, and the progress of the search.
func searched(
	t *testing.T, s registry.Store, target string, limit int, after string,
) (names []string, done registry.SearchProgress) {
	t.Helper()
	done, err := registryOf(s).Search(t.Context(), registry.Search{Target: target, Limit: limit, After: after},
		func(e registry.Entry) error {
			names = append(names, e.Name)
			return nil
		})
	if err != nil {
		t.Fatalf("searching %s: %v", target, err)
	}
	return names, done
}

// hostNames is the number of names in the test of the index: enough that reading all of them would be noticed.
const hostNames = 3000

func hostRecord(host string) registry.Record {
	return registry.Record{Targets: []registry.Target{{URI: "https://" + host + "/x"}}}
}

// hostTest tracks the host of the current version of each name, "" for none.
type hostTest struct {
	*testing.T
	store    registry.Store
	registry *registry.Registry
	hosts    map[string]string
}

var hostActor = registry.Actor{Name: "admin", Role: registry.Admin}

func hostOf(i int) string { return fmt.Sprintf("h%d.example.org", i) }

func hostName(i int) registry.Key { return registry.Name(fmt.Sprintf("urn:example:%04d", i)) }

// with returns the names that have a host, sorted.
func (t *hostTest) with(host string) (names []string) {
	for name, h := range t.hosts {
		if h == host {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// below returns the names that have a host and begin with a text.
func (t *hostTest) below(text string) (names []string) {
	for name, host := range t.hosts {
		if host != "" && strings.HasPrefix(name, text) {
			names = append(names, name)
		}
	}
	return names
}

// check searches for some of the hosts.
func (t *hostTest) check(after string) {
	t.Helper()
	for i := 0; i < 300; i += 7 {
		want := t.with(hostOf(i))
		for _, text := range []string{"//" + hostOf(i) + "/", "https://" + hostOf(i), hostOf(i)} {
			if len(want) == 0 && text == hostOf(i) {
				continue // not known as a host: all entries would be read
			}
			got, done := searched(t.T, t.store, text, 0, "")
			slices.Sort(got)
			if !slices.Equal(got, want) || len(want) > 0 && done.Read > len(want)+20 {
				t.Errorf("after %s, %s: %q, want %q; %d were read", after, text, got, want, done.Read)
			}
		}
	}
}

// put makes n changes.
func (t *hostTest) put(n int, change func(i int) (registry.Key, registry.Record)) {
	t.Helper()
	changes, err := t.registry.Change(t.Context(), hostActor, func(_ registry.WriteTx, w *registry.Batch) error {
		for i := range n {
			key, record := change(i)
			if _, _, err := w.Put(key, record, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.hosts[c.After.Name] = ""
		for _, target := range c.After.Targets {
			t.hosts[c.After.Name] = target.URI[len("https://") : len(target.URI)-len("/x")]
		}
	}
}

// A search by host finds the names whose current version has the host, after each kind of change, and reads
// only these.
func testHosts(tt *testing.T, s registry.Store) {
	t := &hostTest{tt, s, registryOf(s), make(map[string]string)}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // test data
	t.put(hostNames, func(i int) (registry.Key, registry.Record) { return hostName(i), hostRecord(hostOf(i % 300)) })
	t.check("an import")
	for range 40 {
		t.put(1+random.IntN(20), func(int) (registry.Key, registry.Record) {
			return hostName(random.IntN(hostNames + 100)), hostRecord(hostOf(random.IntN(300)))
		})
	}
	t.check("changes")
	var gone []registry.Key
	for i := range 20 {
		if h := t.hosts[hostName(i*7).Name]; h != "" {
			gone = append(gone, hostName(i*7))
		}
		t.hosts[hostName(i*7).Name] = ""
	}
	purge(tt, s, gone...)
	t.check("a purge")
	e := lookup(tt, s, hostName(1000))
	t.put(1, func(int) (registry.Key, registry.Record) {
		return e.Key, registry.Record{Status: registry.Withdrawn, Reason: "gone", Targets: e.Targets}
	})
	t.check("a withdrawal")
	if _, err := t.registry.Redact(t.Context(), hostActor, e.Key, []int{e.Version + 1}, "asked for"); err != nil {
		t.Fatal(err)
	}
	t.hosts[e.Name] = ""
	t.check("a redaction")
	t.pages()
}

// pages checks that the pages of a search are complete, and that a domain finds its subdomains.
func (t *hostTest) pages() {
	want := t.with(hostOf(9))
	var got []string
	for after := ""; len(got) < len(want); {
		page, done := searched(t.T, t.store, "//"+hostOf(9)+"/", 3, after)
		if got = append(got, page...); done.Last == "" || len(page) == 0 {
			break
		}
		after = done.Last
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("by pages: %q, want %q", got, want)
	}
	all := len(t.hosts) - len(t.with(""))
	if found, _ := searched(t.T, t.store, "example.org", 0, ""); len(found) != all {
		t.Errorf("the domain has %d names, want %d", len(found), all)
	}
	for below, want := range map[string]int{"urn:example:00": len(t.below("urn:example:00")), "urn:none:": 0} {
		found := 0
		_, err := t.registry.Search(t.Context(), registry.Search{Target: "example.org", Prefix: below},
			func(registry.Entry) error {
				found++
				return nil
			})
		if err != nil || found != want {
			t.Errorf("the domain has %d names below %s, want %d; %v", found, below, want, err)
		}
	}
	if found, _ := searched(t.T, t.store, "9.example.org", 0, ""); len(found) == 0 {
		t.Error("a part of a host was not found")
	}
}
