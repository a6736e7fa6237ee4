package registrytest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/title"
)

// titled returns the last parts of the names that a search by title finds, in its order.
func titled(t *testing.T, s registry.Store, search registry.Search) string {
	t.Helper()
	var names []string
	_, err := registryOf(s).Search(t.Context(), search, func(e registry.Entry) error {
		names = append(names, e.Name[strings.LastIndexByte(e.Name, ':')+1:])
		return nil
	})
	if err != nil {
		t.Fatalf("searching %q: %v", search.Title, err)
	}
	return strings.Join(names, " ")
}

// Names are found by the titles of their current targets and metadata, in order of registration, after each
// kind of change.
func testTitles(t *testing.T, s registry.Store) {
	name := func(n string) registry.Key { return registry.Name("urn:t:" + n) }
	target := func(titles ...string) (r registry.Record) {
		for _, text := range titles {
			r.Targets = append(r.Targets, registry.Target{URI: "https://example.org/", Title: text, Rel: "item"})
		}
		return r
	}
	metadata := func(text string) registry.Record { return registry.Record{Metadata: text} }
	expect := func(when string, want map[string]string) {
		t.Helper()
		for query, numbers := range want {
			if got := titled(t, s, registry.Search{Title: query}); got != numbers {
				t.Errorf("%s, %q: %q, want %q", when, query, got, numbers)
			}
		}
		if got := verified(t, s); got != "" {
			t.Errorf("%s: %s", when, got)
		}
	}
	put(t, s, name("9"), target("Kalevala", "Suomen kansan runot"))
	put(t, s, name("1"), metadata(`{"title":"Kalevalan päiviä","DC.title":["Ἰλιάς"],"note":"runot"}`))
	put(t, s, name("2"), metadata(`{"name":"Große Straßen in 東京都"}`))
	put(t, s, name("3"), target("Война и мир", "O'Neill \"C\" * AND (x)"))
	put(t, s, name("4"), registry.Record{Alias: "urn:t:9", Metadata: `{"title":"Kalevala, an alias"}`})
	put(t, s, name("5"), registry.Record{Status: registry.Reserved, Metadata: `{"title":"kalevala reserved"}`})
	put(t, s, registry.Prefix("urn:t:p:"), target("Kalevala"))
	expect("at first", map[string]string{
		"kalevala": "9 1 4 5", "Kale": "9 1 4 5", "KALEVALAN": "1", "runot": "9", "runot suomen": "9",
		"runot kalevala": "9", "runo suomen": "", "paivia": "1", "PÄIVIÄ": "1", "ΙΛΙΑΣ": "1", "strassen": "2",
		"GROSSE": "2", "grosse straß": "2", "京": "2", "東京": "2", "京西": "", "война": "3", "МИР": "3", "и": "3",
		"neill c and x": "3", "alevala": "", "note": "",
		"urn": "",
	})
	if got := titled(t, s, registry.Search{Title: "kale", Kind: registry.KindPrefix}); got != "" {
		t.Errorf("prefixes: %q", got) // the last part of "urn:t:p:" is ""
	}
	for _, c := range []struct {
		search registry.Search
		want   string
	}{
		{registry.Search{Prefix: "urn:t:4"}, "4"},
		{registry.Search{Prefix: "urn:u:"}, ""},
		{registry.Search{Statuses: []registry.Status{registry.Reserved}}, "5"},
		{registry.Search{PublicOnly: true}, "9 1 4"},
		{registry.Search{AliasOf: "urn:t:9"}, "4"},
		{registry.Search{Target: "//example.org/"}, "9"},
		{registry.Search{Text: "t:1"}, "1"},
		{registry.Search{After: "urn:t:1"}, "4 5"},
		{registry.Search{Limit: 2}, "9 1"},
	} {
		c.search.Title = "kale"
		if got := titled(t, s, c.search); got != c.want {
			t.Errorf("%+v: %q, want %q", c.search, got, c.want)
		}
	}

	put(t, s, name("9"), target("Kanteletar"))
	put(t, s, name("1"), registry.Record{
		Status: registry.Withdrawn, Reason: "gone",
		Metadata: `{"title":"Kalevalan päiviä"}`,
	})
	put(t, s, name("2"), registry.Record{})
	put(t, s, name("4"), registry.Record{
		Alias: "urn:t:9", Metadata: `{"title":"Kalevala, an alias"}`,
		Contact: "other",
	})
	write(t, s, func(tx registry.WriteTx) error { // the last of several versions counts
		first, second := entry("urn:t:6", 1), entry("urn:t:6", 2)
		first.Metadata, second.Metadata = `{"title":"first"}`, `{"title":"second"}`
		return Append(tx, first, second)
	})
	expect("after changes", map[string]string{
		"kalevala": "1 4 5", "kanteletar": "9", "runot": "", "東": "", "ιλιασ": "",
		"first": "", "second": "6",
	})

	redact := func(n string, versions ...int) {
		t.Helper()
		if _, err := registryOf(s).Redact(t.Context(), hostActor, name(n), versions, "asked for"); err != nil {
			t.Fatal(err)
		}
	}
	redact("1", 2)
	redact("9", 1)
	expect("after redactions", map[string]string{"kalevala": "4 5", "paivia": "", "kanteletar": "9"})
	put(t, s, name("1"), metadata(`{"title":"Back"}`))
	purge(t, s, name("4"), name("6"), name("3"))
	expect("after a purge", map[string]string{"kalevala": "5", "back": "1", "second": "", "мир": "", "kanteletar": "9"})
}

// titledNames is more than the names that are read in one call.
const titledNames = 5000

// The pages of a search are complete, whether a word or its prefix is frequent or rare, and queries are
// limited.
func testTitlePages(t *testing.T, s registry.Store) {
	entries := make([]registry.Entry, titledNames)
	for i := range entries {
		entries[i] = entry(fmt.Sprintf("urn:t%d:%d", i%500, i), 1)
		text := fmt.Sprintf("frequent%d common n%d", i%7, i)
		if i%1000 == 999 {
			text += " rarely seen"
		}
		entries[i].Targets[0].Title = text
	}
	appended(t, s, entries...)
	r := registryOf(s)
	for _, c := range []struct {
		title, below string
		fits         func(i int) bool
	}{
		{"common", "", func(int) bool { return true }},
		{"comm", "", func(int) bool { return true }},
		{"common frequ", "", func(int) bool { return true }},
		{"rarely", "", func(i int) bool { return i%1000 == 999 }},
		{"rar", "", func(i int) bool { return i%1000 == 999 }},
		{"common rar", "", func(i int) bool { return i%1000 == 999 }},
		{"seen com", "", func(i int) bool { return i%1000 == 999 }},
		{"frequent3 frequent4", "", func(int) bool { return false }},
		{"n4321", "", func(i int) bool { return i == 4321 }},
		{"common", "urn:t499:", func(i int) bool { return i%500 == 499 }},
		{"com", "urn:t499:4", func(i int) bool { return i == 499 || i == 4499 || i == 4999 }},
		{"frequent6 com", "urn:t1:", func(i int) bool { return i%500 == 1 && i%7 == 6 }},
		{"none", "", func(int) bool { return false }},
	} {
		var want []string
		for i := range entries {
			if c.fits(i) {
				want = append(want, entries[i].Name)
			}
		}
		for _, limit := range []int{0, max(3, len(want)/30), 1000} {
			got := inPages(t, r, registry.Search{Title: c.title, Prefix: c.below, Limit: limit})
			if !slices.Equal(got, want) {
				t.Errorf("%q below %q, by %d: %d names, want %d", c.title, c.below, limit, len(got), len(want))
			}
		}
	}
	for _, text := range []string{"?", strings.Repeat("x", title.MaxQuery+1)} {
		if _, err := r.Search(t.Context(), registry.Search{Title: text}, nil); !errors.Is(err, registry.ErrInvalid) ||
			!errors.Is(err, title.ErrQuery) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	if _, err := r.Search(t.Context(), registry.Search{Title: "common", After: "urn:t:none"}, nil); !errors.Is(err,
		registry.ErrUnknown) {
		t.Errorf("after a name that is not registered: %v", err)
	}
}

// inPages returns the results of a search page by page.
func inPages(t *testing.T, r *registry.Registry, s registry.Search) (names []string) {
	t.Helper()
	for range titledNames {
		done, err := r.Search(t.Context(), s, func(e registry.Entry) error {
			names = append(names, e.Name)
			return nil
		})
		if err != nil {
			t.Fatalf("%q below %q after %q: %v", s.Title, s.Prefix, s.After, err)
		}
		if s.After = done.Last; done.Last == "" {
			return names
		}
	}
	t.Fatalf("%q below %q: it does not end", s.Title, s.Prefix)
	return nil
}
