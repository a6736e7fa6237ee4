package present_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/present"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestLargestListings requires that the size of a document is proportional to the limit, whatever a server
// sends.
func TestLargestListings(t *testing.T) {
	const (
		most    = 4 << 20 // default of gateways.max_listing
		entries = 10_000  // as in the gateways
	)
	quotes := strings.Repeat(`"`, most/entries)
	long := "gopher://h.example/0" + strings.Repeat("%22", 2500)
	for name, one := range map[string]struct {
		kind string
		text string
		item scheme.Item
	}{
		"links of a long selector": {scheme.KindDescription, "", scheme.Item{Name: "Text/plain", URI: long}},
		"links of a long path":     {scheme.KindDirectory, "", scheme.Item{Name: "a", URI: long}},
		"a menu of quotes":         {scheme.KindMenu, "", scheme.Item{Kind: scheme.ItemInfo, Name: quotes}},
		"names of quotes":          {scheme.KindDirectory, "", scheme.Item{Name: quotes, URI: "ftp://h.example/a"}},
		"threads": {
			scheme.KindGroup, "",
			scheme.Item{Name: quotes, From: quotes, Note: quotes, URI: "news:a@b"},
		},
		"slashes": {
			scheme.KindDirectory, "",
			scheme.Item{Name: "a", URI: "ftp://h.example/" + strings.Repeat("/", 400)},
		},
		"nothing":                {scheme.KindResults, "", scheme.Item{}},
		"an article":             {scheme.KindArticle, strings.Repeat(`"`, most), scheme.Item{Name: "a"}},
		"characters of one byte": {scheme.KindArticle, strings.Repeat("\xe9", most), scheme.Item{Name: "\xe9"}},
	} {
		p := present.New(present.Config{
			Pages: pages.New(pages.Site{}), MaxBytes: most,
			Fetch: handlerFunc(func(context.Context, scheme.Request) (*scheme.Resource, error) {
				l := &scheme.Listing{
					Kind: one.kind, Title: "t", URI: "gopher://h.example/", Text: one.text,
					Items: make([]scheme.Item, entries),
				}
				for i := range l.Items {
					l.Items[i] = one.item
				}
				return scheme.ListingResource(l), nil
			}),
		})
		for _, accept := range []string{"text/html", "application/json"} {
			got := fetch(t, p, http.MethodGet, "gopher://h.example/", "Accept", accept)
			if got.status != http.StatusOK || len(got.body) > 2*most {
				t.Errorf("%s as %s: %d, %d bytes", name, accept, got.status, len(got.body))
			}
		}
	}
}
