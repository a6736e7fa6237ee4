package answer

import (
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver/scheme"
)

const linksetType = "application/linkset+json" // RFC 9264 section 4.2

// linkset is RFC 9264 section 4.2: the targets of a listing by relation.
type linkset struct {
	Contexts []linkContext `json:"linkset"`
}

type linkContext struct {
	Anchor string       `json:"anchor"`
	Items  []linkTarget `json:"item,omitempty"` // RFC 6573
	Up     []linkTarget `json:"up,omitempty"`
	Prev   []linkTarget `json:"prev,omitempty"`
	Next   []linkTarget `json:"next,omitempty"`
}

type linkTarget struct {
	Href  string `json:"href"`
	Title string `json:"title,omitempty"`
	Type  string `json:"type,omitempty"`
}

// linksetOf returns a listing as a linkset.
func linksetOf(l *scheme.Listing) []byte {
	c := linkContext{Anchor: l.URI, Items: make([]linkTarget, 0, len(l.Items)), Up: targetOf(l.Parent), Prev: targetOf(l.Previous), Next: targetOf(l.Next)}
	for i := range l.Items {
		if item := &l.Items[i]; item.URI != "" {
			c.Items = append(c.Items, linkTarget{item.URI, item.Name, item.Type})
		}
	}
	return message.Marshal(linkset{[]linkContext{c}})
}

func targetOf(l *scheme.Link) []linkTarget {
	if l == nil {
		return nil
	}
	return []linkTarget{{Href: l.URI, Title: l.Text}}
}
