package proxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver/scheme"
)

// The octets of a document are in proportion to the limit, whatever a server sends.
func TestLargestListings(t *testing.T) {
	const (
		most    = 4 << 20 // the default of gateways.max_listing
		entries = 10_000  // that of gateways.max_entries
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
		"threads":                  {scheme.KindGroup, "", scheme.Item{Name: quotes, From: quotes, Note: quotes, URI: "news:a@b"}},
		"slashes":                  {scheme.KindDirectory, "", scheme.Item{Name: "a", URI: "ftp://h.example/" + strings.Repeat("/", 400)}},
		"nothing":                  {scheme.KindResults, "", scheme.Item{}},
		"an article":               {scheme.KindArticle, strings.Repeat(`"`, most), scheme.Item{Name: "a"}},
		"characters of one octet":  {scheme.KindArticle, strings.Repeat("\xe9", most), scheme.Item{Name: "\xe9"}},
	} {
		s := start(t, func(c *proxy.Config) {
			c.ListingSize, c.Forward.Accept = most, answer.ListingAccept
			c.Fetch = handlerFunc(func(context.Context, scheme.Request) (*scheme.Resource, error) {
				l := &scheme.Listing{Kind: one.kind, Title: "t", URI: "gopher://h.example/", Text: one.text, Items: make([]scheme.Item, entries)}
				for i := range l.Items {
					l.Items[i] = one.item
				}
				return scheme.Listed(l), nil
			})
		})
		for _, accept := range []string{"text/html", "application/json"} {
			response := s.get(t, "/fetch?uri=gopher://h.example/", "Referer: http://a/", "Accept: "+accept)
			n, err := io.Copy(io.Discard, response.Body)
			if response.StatusCode != http.StatusOK || err != nil || n > 2*most {
				t.Errorf("%s as %s: %s, %d octets, %v", name, accept, response.Status, n, err)
			}
		}
	}
}
