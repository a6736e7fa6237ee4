package scheme_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

// listingOf returns a listing with a number of items and bytes of text.
func listingOf(items, size int, location, name string) *scheme.Listing {
	l := &scheme.Listing{Kind: scheme.KindMenu, Title: "t", URI: "ftp://h.example/", Text: strings.Repeat("é", size/2)}
	for range items {
		l.Items = append(l.Items, scheme.Item{Kind: scheme.ItemText, Name: name, URI: location})
	}
	return l
}

func TestBound(t *testing.T) {
	const most = 100_000
	long := "ftp://h.example/" + strings.Repeat("a", 984)
	for name, tt := range map[string]struct {
		listing *scheme.Listing
		items   int
		text    int // minimum, in bytes
	}{
		"short":            {listingOf(100, 1000, "ftp://h.example/a", "a"), 100, 1000},
		"URIs count twice": {listingOf(100, 1000, long, "a"), most / (2*1000 + 128 + 5), 0},
		"escaped":          {listingOf(1000, 1000, "", strings.Repeat(`"`, 100)), most / (600 + 128 + 4), 0},
		"empty":            {listingOf(most, 0, "", ""), most / (128 + 4), 0},
		"text":             {listingOf(1, most, "", "a"), 1, most - 500},
	} {
		before := len(tt.listing.Text)
		size := tt.listing.Truncate(most)
		if len(tt.listing.Items) != tt.items || len(tt.listing.Text) < tt.text || size > most {
			t.Errorf("%s: %d items, %d bytes of text, %d in all", name, len(tt.listing.Items),
				len(tt.listing.Text), size)
		}
		if isCut := name != "short"; (tt.listing.Incomplete != "") != isCut || isCut && size < most/2 ||
			!isCut && len(tt.listing.Text) != before {
			t.Errorf("%s: %q, %d bytes", name, tt.listing.Incomplete, size)
		}
		if !utf8.ValidString(tt.listing.Text) {
			t.Errorf("%s: a character is cut", name)
		}
	}
}

// TestBoundOfTexts requires that all long texts are truncated, and that an existing reason stays.
func TestBoundOfTexts(t *testing.T) {
	l := &scheme.Listing{Incomplete: "why"}
	for i := range 1000 {
		text := fmt.Sprint(i, strings.Repeat("a", 100))
		l.Warnings, l.Notes = append(l.Warnings, text), append(l.Notes, text)
		l.Properties = append(l.Properties, scheme.Property{Name: text})
	}
	if size := l.Truncate(300_000); size > 300_000 || len(l.Warnings) != 1000 || len(l.Notes) != 1000 ||
		len(l.Properties) > 500 || l.Incomplete != "why" {
		t.Errorf("%d: %d %d %d %q", size, len(l.Warnings), len(l.Notes), len(l.Properties), l.Incomplete)
	}
	if size := l.Truncate(1000); size > 1000 || len(l.Warnings) > 10 {
		t.Errorf("%d: %d warnings", size, len(l.Warnings))
	}
}

func TestEntriesOf(t *testing.T) {
	limits := scheme.Limits{Entries: 1000, Bytes: 1 << 20}
	for length, want := range map[int]int{0: 1000, 100: 1000, 7499: 69, 2 << 20: 1} {
		if got := limits.MaxEntries(strings.Repeat("a", length)); got != want {
			t.Errorf("%d bytes: %d", length, got)
		}
	}
}
