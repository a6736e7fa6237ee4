package browse_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/browse"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// site is a registry with a Browser.
type site struct {
	*registry.Registry
	*browse.Browser
	config  browse.Config
	now     time.Time
	step    time.Duration // by which each reading advances the clock
	running sync.WaitGroup
}

func newSite(t testing.TB) *site {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "registry.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &site{now: time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)}
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		s.now = s.now.Add(s.step)
		return s.now
	}
	canonical := func(text string) (string, error) {
		if !strings.Contains(text, ":") {
			return "", errors.New("not a URI")
		}
		return strings.ToLower(text), nil
	}
	s.Registry = registry.New(registry.Config{
		Store: store, Canonical: canonical, CanonicalPrefix: canonical,
		Now: clock,
	})
	t.Cleanup(s.running.Wait)
	s.config = browse.Config{
		Registry: s.Registry, SearchLimit: quota.Limit{Semaphore: make(quota.Semaphore, 2)},
		ListLimit: quota.Limit{Semaphore: make(quota.Semaphore, 2)},
		FileLimit: quota.Limit{Semaphore: make(quota.Semaphore, 1)}, MaxWait: time.Second,
		Timeout: 100 * time.Millisecond, QueryTimeout: 10 * time.Second,
		BaseURL: "https://library.example/resolver",
		PageURL: func(base, name string) string { return base + "/uri-res/N2C.html?" + name }, Now: clock,
		Background: func(run func(context.Context)) { s.running.Go(func() { run(context.Background()) }) },
	}
	s.Browser = s.another()
	return s
}

// another returns another Browser of the site, as after a reload.
func (s *site) another() *browse.Browser { return browse.New(s.config) }

// put registers names in order, in batches of some hundred.
func (s *site) put(t testing.TB, records map[string]registry.Record) {
	t.Helper()
	var edits []registry.Edit
	for _, name := range slices.Sorted(maps.Keys(records)) {
		edits = append(edits, registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion,
			Change: registry.Put(records[name]),
		})
	}
	if _, err := s.Apply(t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edits...); err != nil {
		t.Fatal(err)
	}
}

// targets returns targets with URIs.
func targets(uris ...string) (all []registry.Target) {
	for _, u := range uris {
		all = append(all, registry.Target{URI: u})
	}
	return all
}

// library returns a registry with names of all kinds.
func library(t testing.TB) *site {
	t.Helper()
	s := newSite(t)
	s.put(t, map[string]registry.Record{
		"urn:a1:book": {
			Targets:  targets("https://books.example/1"),
			Metadata: `{"title": "Bücher <der> Welt", "tags": ["Atlas"], "note": "secret"}`,
		},
		"urn:a1:list": {
			Targets:  targets("https://www.books.example/2"),
			Metadata: `{"DC.title": ["One", {"@value": "Two \u0041tlas"}]}`,
		},
		"urn:a1:tit": {Targets: []registry.Target{
			{
				URI: "https://other.example/", Title: "Of a target",
				Rel: "describedby",
			},
			{URI: "https://old.example/", Until: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)},
			{URI: "ftp://Files.example/"},
		}},
		"urn:a1:held":    {Status: registry.Reserved},
		"urn:a1:gone":    {Status: registry.Withdrawn, Reason: "why", Metadata: `{"title": "Gone Atlas"}`},
		"urn:b2:book":    {Targets: targets("https://books.example/3")},
		"ark:/12345/one": {Targets: targets("https://books.example/4")},
	})
	s.put(t, map[string]registry.Record{"urn:a1:alias": {Alias: "urn:a1:book"}})
	return s
}

// A search finds the names that match all of its fields. Restricted names are found only with the permission
// to see them.
func TestSearch(t *testing.T) {
	s := library(t)
	for _, tt := range []struct {
		search resolver.NameSearch
		want   string
	}{
		{resolver.NameSearch{}, "ark:/12345/one urn:a1:alias urn:a1:book urn:a1:list urn:a1:tit urn:b2:book"},
		{
			resolver.NameSearch{All: true},
			"ark:/12345/one urn:a1:alias urn:a1:book urn:a1:gone urn:a1:held urn:a1:list urn:a1:tit urn:b2:book",
		},
		{resolver.NameSearch{Prefix: "URN:A1:"}, "urn:a1:alias urn:a1:book urn:a1:list urn:a1:tit"},
		{resolver.NameSearch{Prefix: "urn"}, "urn:a1:alias urn:a1:book urn:a1:list urn:a1:tit urn:b2:book"},
		{resolver.NameSearch{Prefix: "<b>"}, ""},
		{resolver.NameSearch{Words: "bücher <DER>"}, "urn:a1:book"},
		{resolver.NameSearch{Words: "TARGET"}, "urn:a1:tit"},
		{resolver.NameSearch{Words: "atlas"}, "urn:a1:list"},
		{resolver.NameSearch{Words: "atlas", All: true}, "urn:a1:gone urn:a1:list"},
		{resolver.NameSearch{Words: "secret"}, ""},
		{resolver.NameSearch{Words: "a1:b"}, ""},
		{resolver.NameSearch{Words: "buch welt"}, ""},
		{resolver.NameSearch{Words: "welt BUCHER", Prefix: "urn:a1:"}, "urn:a1:book"},
		{resolver.NameSearch{Words: "?!"}, ""},
		{resolver.NameSearch{Tag: "atlas"}, "urn:a1:book"},
		{resolver.NameSearch{Host: "books.example"}, "ark:/12345/one urn:a1:book urn:a1:list urn:b2:book"},
		{resolver.NameSearch{Host: "www.BOOKS.example", Prefix: "urn:a1:"}, "urn:a1:list"},
		{resolver.NameSearch{Host: "none.example"}, ""},
		{resolver.NameSearch{Status: "withdrawn"}, ""},
		{resolver.NameSearch{Status: "reserved"}, ""},
		{resolver.NameSearch{Status: "withdrawn", All: true}, "urn:a1:gone"},
		{resolver.NameSearch{Status: "reserved", All: true}, "urn:a1:held"},
	} {
		found, err := s.Browser.Search(t.Context(), tt.search)
		if tt.search.Host != "" { // results are in order of registration
			slices.SortFunc(found.Names, func(a, b resolver.NameSummary) int { return strings.Compare(a.Name, b.Name) })
		}
		if got := namesOf(found); err != nil || got != tt.want || found.Next != "" || found.TimedOut {
			t.Errorf("%+v: %q, %v, %q, %v", tt.search, got, err, found.Next, found.TimedOut)
		}
	}
	found, err := s.Browser.Search(t.Context(), resolver.NameSearch{Prefix: "urn:a1:tit"})
	if err != nil || found.Names[0].Title != "Of a target" ||
		strings.Join(found.Names[0].Targets, " ") != "ftp://Files.example/" || found.Names[0].Status != "active" {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err = s.Browser.Search(t.Context(), resolver.NameSearch{Prefix: "urn:a1:alias"}); err != nil ||
		found.Names[0].Alias != "urn:a1:book" {
		t.Errorf("%+v, %v", found, err)
	}
}

func namesOf(found resolver.NamePage) string {
	var names []string
	for _, n := range found.Names {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// Names of a sandbox are hidden like restricted names.
func TestSearchSandbox(t *testing.T) {
	s := newSite(t)
	edit := registry.Edit{
		Key: registry.Prefix("urn:x1:"), IfVersion: registry.AnyVersion,
		Change: registry.Put(registry.Record{Sandbox: true, Targets: targets("https://a.example/")}),
	}
	if _, err := s.Apply(t.Context(), registry.Actor{Name: "test", Role: registry.Admin}, edit); err != nil {
		t.Fatal(err)
	}
	s.put(t, map[string]registry.Record{
		"urn:x1:a": {Targets: targets("https://a.example/a")},
		"urn:y1:a": {Targets: targets("https://a.example/b")},
	})
	for all, want := range map[bool]string{false: "urn:y1:a", true: "urn:x1:a urn:y1:a"} {
		if found, err := s.Browser.Search(t.Context(), resolver.NameSearch{All: all}); err != nil ||
			namesOf(found) != want {
			t.Errorf("%v: %+v, %v", all, found, err)
		}
	}
}

// Pages cover all names without gaps or duplicates.
func TestSearchPages(t *testing.T) {
	s := newSite(t)
	records := make(map[string]registry.Record)
	for i := range 333 {
		records[fmt.Sprintf("urn:a1:%04d", i)] = registry.Record{Targets: targets("https://a.example/")}
		records[fmt.Sprintf("urn:a1:%04d-held", i)] = registry.Record{Status: registry.Reserved}
	}
	s.put(t, records)
	var seen []string
	pages := 0
	for after := ""; ; pages++ {
		found, err := s.Browser.Search(t.Context(), resolver.NameSearch{Prefix: "urn:a1:", After: after})
		if err != nil || len(found.Names) > 50 {
			t.Fatalf("%d names, %v", len(found.Names), err)
		}
		seen = append(seen, strings.Fields(namesOf(found))...)
		if after = found.Next; after == "" {
			break
		}
		if strings.Contains(after, "held") {
			t.Errorf("the list goes on behind %s", after)
		}
	}
	if len(seen) != 333 || pages != 6 {
		t.Errorf("%d names on %d pages", len(seen), pages+1)
	}
	for i, name := range seen {
		if name != fmt.Sprintf("urn:a1:%04d", i) {
			t.Fatalf("%d is %s", i, name)
		}
	}
}

// A search that exceeds its time limit ends, and continues from its position; the cursor does not disclose
// hidden names.
func TestSearchLate(t *testing.T) {
	s := newSite(t)
	records := make(map[string]registry.Record)
	for i := range 400 {
		records[fmt.Sprintf("urn:a1:%04d-held-for-a-secret", i)] = registry.Record{Status: registry.Reserved}
	}
	records["urn:a1:z"] = registry.Record{Targets: targets("https://a.example/"), Metadata: `{"tags": "z"}`}
	s.put(t, records)
	s.step = time.Second // each reading of the clock exceeds the limit
	search := resolver.NameSearch{Tag: "z"}
	for n := 0; ; n++ {
		found, err := s.another().Search(t.Context(), search)
		if err != nil || n > 20 {
			t.Fatal(n, err)
		}
		if namesOf(found) == "urn:a1:z" {
			if n < 2 {
				t.Errorf("found after %d pages", n)
			}
			break
		}
		if !found.TimedOut || found.Next == search.After || strings.Contains(found.Next, "held") {
			t.Fatalf("page %d: %+v", n, found)
		}
		search.After = found.Next
	}
	if _, err := newSite(t).Browser.Search(t.Context(), search); search.After == "" ||
		!errors.Is(err, resolver.ErrCursor) {
		t.Errorf("a cursor of another registry: %v", err)
	}
	search.All, search.After = true, ""
	if found, err := s.Browser.Search(t.Context(), search); err != nil || !found.TimedOut || found.Next == "" {
		t.Errorf("%+v, %v", found, err)
	}
}

// Invalid cursors are rejected.
func TestCursor(t *testing.T) {
	s := library(t)
	for _, after := range []string{
		"a", ".", ".AAAA", ".%", ".AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"urn:\x00", "urn:\xff", "urn:" + strings.Repeat("a", 1300),
	} {
		if _, err := s.Browser.Search(t.Context(), resolver.NameSearch{After: after}); !errors.Is(err,
			resolver.ErrCursor) {
			t.Errorf("%.40q: %v", after, err)
		}
	}
}

// A search waits a moment while others run; a client over its own quota is rejected immediately.
func TestBusy(t *testing.T) {
	s := library(t)
	client := netip.MustParseAddr("192.0.2.1")
	s.config.SearchLimit.Clients = quota.NewClientLimits(1, 2, resolver.ErrBusy)
	b := s.another()
	permit, err := s.config.SearchLimit.Clients.Acquire(client)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Search(t.Context(), resolver.NameSearch{Words: "a", Client: client}); !errors.Is(err,
		resolver.ErrBusy) {
		t.Errorf("a second one of a client: %v", err)
	}
	permit.Release()
	for range cap(s.config.SearchLimit.Semaphore) {
		s.config.SearchLimit.Semaphore.TryAcquire()
	}
	if _, err := b.Search(t.Context(), resolver.NameSearch{Words: "a", Client: client}); !errors.Is(err,
		resolver.ErrBusy) {
		t.Errorf("without a slot: %v", err)
	}
	if _, err := b.Search(t.Context(), resolver.NameSearch{Prefix: "urn:a1:", Client: client}); err != nil {
		t.Errorf("a list while others search: %v", err)
	}
	s.config.SearchLimit.Semaphore.Release()
	if _, err := b.Search(t.Context(), resolver.NameSearch{Words: "a", Client: client}); err != nil {
		t.Error(err)
	}
}

// Known returns the same data as lists, and nothing about hidden names.
func TestKnown(t *testing.T) {
	s := library(t)
	known, err := browse.Lookup(t.Context(), s.Registry,
		[]string{"URN:A1:BOOK", "urn:a1:held", "nothing", "urn:none:x", "urn:a1:tit", "urn:a1:gone"}, s.Now())
	if err != nil || len(known) != 6 || known[0].Name != "urn:a1:book" || known[4].Title != "Of a target" {
		t.Fatalf("%+v, %v", known, err)
	}
	for _, i := range []int{1, 2, 3, 5} {
		if known[i].Name != "" {
			t.Errorf("%+v", known[i])
		}
	}
}

// Counts are those of active names, at most a minute old.
func TestCount(t *testing.T) {
	s := library(t)
	count := func() (n int64, ok bool) { return s.Count(t.Context(), "urn:a1") }
	if n, ok := count(); n != 4 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	s.put(t, map[string]registry.Record{"urn:a1:new": {Targets: targets("https://a.example/")}})
	if n, _ := count(); n != 4 {
		t.Errorf("%d: counted for each page", n)
	}
	s.now = s.now.Add(time.Minute)
	if n, _ := count(); n != 5 {
		t.Errorf("%d", n)
	}
	if n, ok := s.Count(t.Context(), "urn:none"); n != 0 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
}

// BenchmarkSearch reads a page of a registry with 100,000 names.
func BenchmarkSearch(b *testing.B) {
	s := newSite(b)
	s.fill(b, 100_000, func(i int) (string, registry.Record) {
		return fmt.Sprintf("urn:a1:%06d", i), registry.Record{
			Targets:  targets(fmt.Sprintf("https://host%d.example/%d", i%1000, i)),
			Metadata: fmt.Sprintf(`{"title": "The title of %d", "creator": "A. Nonymous"}`, i),
		}
	})
	for name, search := range map[string]resolver.NameSearch{
		"list": {Prefix: "urn:a1:05"}, "words": {Words: "of 99"}, "host": {Host: "host7.example"},
		"nothing": {Words: "none"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Browser.Search(b.Context(), search); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzCursor(f *testing.F) {
	s := library(f)
	for _, after := range []string{"", "urn:a1:b", ".AAAA", "."} {
		f.Add(after)
	}
	f.Fuzz(func(t *testing.T, after string) {
		if _, err := s.Browser.Search(t.Context(), resolver.NameSearch{After: after}); err != nil &&
			!errors.Is(err, resolver.ErrCursor) {
			t.Errorf("%q: %v", after, err)
		}
	})
}
