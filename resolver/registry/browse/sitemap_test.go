package browse_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/browse"
)

// fill registers many names in large batches, like an import.
func (s *site) fill(t testing.TB, n int, of func(i int) (string, registry.Record)) {
	t.Helper()
	const at = 5000
	for first := 0; first < n; first += at {
		err := s.Store().Bulk(t.Context(), func(tx registry.WriteTx) error {
			b := registry.NewBatch(tx, "test", s.Now())
			var keys []registry.Key
			for i := first; i < min(n, first+at); i++ {
				name, _ := of(i)
				keys = append(keys, registry.Name(name))
			}
			if err := b.Load(keys); err != nil {
				return err
			}
			for i := first; i < min(n, first+at); i++ {
				name, record := of(i)
				if _, _, err := b.Put(registry.Name(name), record, ""); err != nil {
					return err
				}
			}
			_, err := b.Flush()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// index returns the files in the index.
func index(t testing.TB, b *browse.Browser) (files []string) {
	t.Helper()
	text, err := b.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 sitemapindex"`
		Sitemap []struct {
			Loc string `xml:"loc"`
		} `xml:"sitemap"`
	}
	if err := xml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, one := range document.Sitemap {
		file, ok := strings.CutPrefix(one.Loc, "https://library.example/resolver/sitemap-")
		file, isXML := strings.CutSuffix(file, ".xml")
		if !ok || !isXML || url.PathEscape(file) != file || len(one.Loc) > 2047 {
			t.Fatalf("%q", one.Loc)
		}
		files = append(files, file)
	}
	return files
}

// pagesOf returns the names in a sitemap file, in order.
func pagesOf(t testing.TB, b *browse.Browser, file string) (names []string) {
	t.Helper()
	write, release, err := b.File(t.Context(), file, netip.Addr{})
	if err != nil {
		t.Fatal(file, err)
	}
	defer release()
	var text bytes.Buffer
	if err := write(&text); err != nil || text.Len() > 50<<20 {
		t.Fatal(err, text.Len())
	}
	var document struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URL     []struct {
			Loc     string `xml:"loc"`
			LastMod string `xml:"lastmod"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(text.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for _, one := range document.URL {
		name, ok := strings.CutPrefix(one.Loc, "https://library.example/resolver/uri-res/N2C.html?")
		if !ok || one.LastMod != "2031-05-01" {
			t.Fatalf("%+v", one)
		}
		names = append(names, name)
	}
	if len(names) > 50_000 {
		t.Errorf("%d pages", len(names))
	}
	return names
}

// The files of the index contain each public name once, even if it takes several files. No other name is in
// them or in their URLs.
func TestSitemap(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := newSite(t)
	const many = 93_000 // two parts of 45,000 keys and some more, and a third one
	var want []string
	of := func(i int) (string, registry.Record) {
		name := fmt.Sprintf("urn:a1:%06d&'", i)
		if i%4 == 0 || i > 50_000 && i < 55_000 {
			return name + "secret", registry.Record{Status: registry.Reserved}
		}
		return name, registry.Record{Targets: targets("https://a.example/")}
	}
	for i := range many {
		if name, record := of(i); record.Status == registry.Active {
			want = append(want, name)
		}
	}
	s.fill(t, many, of)
	check := func(b *browse.Browser, most int) []string {
		t.Helper()
		files := index(t, b)
		var names []string
		for _, file := range files {
			part := pagesOf(t, b, file)
			if len(part) == 0 || strings.Contains(file, "c2VjcmV0") || strings.Contains(file, "NlY3JldA") {
				t.Errorf("%s has %d", file, len(part))
			}
			names = append(names, part...)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%d names, want %d", len(names), len(want))
		}
		if len(files) < 3 || len(files) > most {
			t.Errorf("%d files", len(files))
		}
		return files
	}
	_ = index(t, s.Browser) // it may not have waited until all parts were known
	s.running.Wait()
	before := check(s.Browser, 3)
	// Names registered meanwhile are in existing files; later, only files that are too large are split.
	added := func(i int) (string, registry.Record) {
		return fmt.Sprintf("urn:a1:000001x%05d", i), registry.Record{Targets: targets("https://a.example/")}
	}
	const more = 2000 // the first part is too large with them
	s.fill(t, more, added)
	for i := range more {
		name, _ := added(i)
		want = append(want, name)
	}
	slices.Sort(want)
	s.now = s.now.Add(time.Hour - time.Second)
	if same := index(t, s.Browser); !slices.Equal(same, before) {
		t.Errorf("%q, before %q", same, before)
	}
	s.now = s.now.Add(2 * time.Second)
	_ = index(t, s.Browser)
	s.running.Wait()
	after := check(s.Browser, 4)
	if len(after) != 4 || !slices.Equal(after[2:], before[1:]) {
		t.Errorf("%q, before %q", after, before)
	}
	// Another urnd on the same store serves the same files.
	other := s.another()
	var names []string
	for _, file := range after {
		names = append(names, pagesOf(t, other, file)...)
	}
	if !slices.Equal(names, want) {
		t.Errorf("another one has %d names", len(names))
	}
	// A withdrawn boundary is a boundary no longer.
	last := pagesOf(t, s.Browser, after[0])
	gone := last[len(last)-1]
	s.put(t, map[string]registry.Record{gone: {Status: registry.Withdrawn, Reason: "why"}})
	want = slices.DeleteFunc(want, func(name string) bool { return name == gone })
	s.now = s.now.Add(2 * time.Hour)
	_ = index(t, s.Browser)
	s.running.Wait()
	if again := check(s.Browser, 5); slices.Contains(again, after[0]) {
		t.Errorf("%q is still a boundary", gone)
	}
}

// A registry without names has an empty sitemap, and one with few names has one file.
func TestSmallSitemaps(t *testing.T) {
	s := newSite(t)
	if files := index(t, s.Browser); len(files) != 0 {
		t.Errorf("%q", files)
	}
	s.put(t, map[string]registry.Record{"urn:a1:held": {Status: registry.Reserved}})
	s.now = s.now.Add(2 * time.Hour)
	_ = index(t, s.Browser)
	s.running.Wait()
	if files := index(t, s.Browser); len(files) != 0 {
		t.Errorf("%q", files)
	}
	s = library(t)
	files := index(t, s.Browser)
	if len(files) != 1 || files[0] != "~" {
		t.Fatalf("%q", files)
	}
	if names := pagesOf(t, s.Browser, "~"); strings.Join(names,
		" ") != "ark:/12345/one urn:a1:alias urn:a1:book urn:a1:list urn:a1:tit urn:b2:book" {
		t.Errorf("%q", names)
	}
}

// Invalid file names are rejected, and so are requests beyond the limit of concurrent files.
func TestSitemapFiles(t *testing.T) {
	s := library(t)
	for _, file := range []string{
		"", "a", "~~", "a~", "~b", "dXJu~", "dXJuOmE~dXJuOmE", "dXJuOmI~dXJuOmE", "LkFB~",
		"dXJuOmE=~", "dXJuOgA~", "%~",
	} {
		if _, _, err := s.File(t.Context(), file, netip.Addr{}); !errors.Is(err, resolver.ErrCursor) {
			t.Errorf("%q: %v", file, err)
		}
	}
	_, release, err := s.File(t.Context(), "~", netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.File(t.Context(), "~", netip.Addr{}); !errors.Is(err, resolver.ErrBusy) {
		t.Error(err)
	}
	release()
}

// A client that disconnects ends the file.
func TestSitemapFileEnds(t *testing.T) {
	s := library(t)
	write, release, err := s.File(t.Context(), "~", netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := write(failing{}); err == nil {
		t.Error("no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("left") }

func FuzzSitemapFile(f *testing.F) {
	s := library(f)
	for _, file := range []string{"~", "dXJuOmE~", "~dXJuOmE", "a"} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		_, release, err := s.File(t.Context(), file, netip.Addr{})
		switch {
		case err == nil:
			release()
		case !errors.Is(err, resolver.ErrCursor):
			t.Errorf("%q: %v", file, err)
		}
	})
}

// BenchmarkSitemap computes the parts of a registry with 100,000 names, and writes a file of 45,000.
func BenchmarkSitemap(b *testing.B) {
	s := newSite(b)
	s.fill(b, 100_000, func(i int) (string, registry.Record) {
		return fmt.Sprintf("urn:a1:%06d", i), registry.Record{Targets: targets("https://a.example/")}
	})
	b.Run("parts", func(b *testing.B) {
		for b.Loop() {
			made := s.another()
			if files := index(b, made); len(files) != 3 {
				b.Fatalf("%q", files)
			}
		}
	})
	file := index(b, s.Browser)[0]
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			write, release, err := s.File(b.Context(), file, netip.Addr{})
			if err != nil {
				b.Fatal(err)
			}
			if err := write(io.Discard); err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}
