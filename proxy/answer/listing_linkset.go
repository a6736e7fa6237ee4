package answer

import (
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// linksetOf returns a listing as a linkset, with its items by RFC 6573.
func linksetOf(l *scheme.Listing) []byte {
	c := linkContext{Anchor: l.URI}
	for i := range l.Items {
		if item := &l.Items[i]; item.URI != "" {
			c.Links = append(c.Links, resolver.Link{Rel: relItem, URI: item.URI, Title: item.Name, Type: item.Type})
		}
	}
	for _, other := range [...]struct {
		rel  string
		link *scheme.Link
	}{{"up", l.Parent}, {"prev", l.Previous}, {"next", l.Next}} {
		if other.link != nil {
			c.Links = append(c.Links, resolver.Link{Rel: other.rel, URI: other.link.URI, Title: other.link.Text})
		}
	}
	return linksetJSON([]linkContext{c})
}
