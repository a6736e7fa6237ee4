package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
)

// The representations of a listing, the one for clients that accept all of them first.
const (
	listingJSON = "application/json"
	listingText = "text/plain"
)

// throughFetch is the parameter of a media type in Accept by which the links of a page lead to /fetch of
// this server. So representations of either kind are told apart wherever they are cached.
const throughFetch = ";links=fetch"

// inOrder is before the order of a listing, as a parameter of the media type, too.
const inOrder = ";sort="

func listingTypes() []contenttype.MediaType {
	return []contenttype.MediaType{
		contenttype.NewMediaType(pages.Type), contenttype.NewMediaType(listingJSON), contenttype.NewMediaType(listingText), contenttype.NewMediaType(linksetType),
	}
}

// ListingAccept returns the field Accept for what may be a listing, with the one representation that suits
// the client best by its own one: a page where that says nothing else. The order is one of message, or "".
func ListingAccept(accept string, fetched bool, order string) string {
	chosen := pages.Type
	if accept != "" {
		if media, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, listingTypes()); err == nil {
			chosen = media.MIME()
		}
	}
	if fetched {
		chosen += throughFetch
	}
	if order != "" {
		chosen += inOrder + order
	}
	return chosen
}

// Listing returns a listing as a document of the type that ListingAccept has chosen: one that is no page has only a body.
func Listing(w pages.Writer, accept string, l *scheme.Listing) (contentType string, document pages.Page) {
	chosen, fetched := AcceptOf(accept)
	if _, order, isSorted := strings.Cut(accept, inOrder); isSorted {
		sortItems(l, order)
	}
	switch chosen {
	case listingJSON:
		return listingJSON, pages.Page{Body: message.Marshal(datable(l))}
	case listingText:
		return listingText + "; charset=utf-8", pages.Page{Body: w.ListingText(l)}
	case linksetType:
		return linksetType, pages.Page{Body: linksetOf(l)}
	default:
		return pages.ContentType, w.Listing(l, linksBy(fetched))
	}
}

// ListingLanguage returns the field Accept-Language for what may be a listing, whose Accept is chosen: one value for all by which
// its page is the same, and "" where it is none.
func ListingLanguage(design *pages.Design, chosen, languages string) string {
	if !strings.HasPrefix(chosen, pages.Type) {
		return ""
	}
	return design.For(languages).Accept()
}

// AcceptOf returns the field Accept of a client for which ListingAccept has chosen, alone, and whether it
// has asked at /fetch.
func AcceptOf(accept string) (chosen string, fetched bool) {
	chosen, _, _ = strings.Cut(accept, inOrder)
	return strings.CutSuffix(chosen, throughFetch)
}

// sortItems puts the items of a directory or a list of groups in an order, one without a value last.
func sortItems(l *scheme.Listing, order string) {
	if l.Kind != scheme.KindDirectory && l.Kind != scheme.KindGroups {
		return
	}
	number := func(n *int64) int64 {
		if n == nil {
			return -1
		}
		return *n
	}
	slices.SortStableFunc(l.Items, func(a, b scheme.Item) int {
		switch order {
		case route.SortSize:
			return cmp.Compare(max(number(b.Size), number(b.Count)), max(number(a.Size), number(a.Count)))
		case route.SortTime:
			return b.Modified.Compare(a.Modified)
		default:
			return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
		}
	})
}

// datable returns a listing without times that RFC 3339, and so JSON, cannot have.
func datable(l *scheme.Listing) *scheme.Listing {
	const lastYear = 9999
	isOut := func(i scheme.Item) bool { return i.Modified.Year() < 0 || i.Modified.Year() > lastYear }
	if !slices.ContainsFunc(l.Items, isOut) {
		return l
	}
	changed := *l
	changed.Items = slices.Clone(l.Items)
	for i := range changed.Items {
		if isOut(changed.Items[i]) {
			changed.Items[i].Modified = time.Time{}
		}
	}
	return &changed
}

// linksBy returns the function from a URI to where a page of this server links to.
func linksBy(fetched bool) func(string) string {
	return func(u string) string {
		if fetched {
			return route.Fetched(u)
		}
		return u
	}
}
