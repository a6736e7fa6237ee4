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

// Media types of a listing besides HTML, which is the default.
const (
	listingJSON = "application/json"
	listingText = "text/plain"
)

// throughFetch is the parameter of a media type in Accept for pages whose links lead to /fetch of this
// server. It distinguishes both variants of a page in all caches.
const throughFetch = ";links=fetch"

// inOrder is the parameter of the media type with the order of a listing.
const inOrder = ";sort="

func listingTypes() []contenttype.MediaType {
	return []contenttype.MediaType{
		contenttype.NewMediaType(pages.Type), contenttype.NewMediaType(listingJSON),
		contenttype.NewMediaType(listingText), contenttype.NewMediaType(linksetType),
	}
}

// ListingAccept returns the value of Accept for a resource that may be a listing: the single media type that
// the client prefers, by default HTML. order is an order of package route, or "".
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

// Listing returns a listing in the media type that ListingAccept has chosen: other types than HTML set only
// the body.
func Listing(w pages.Writer, accept string, l *scheme.Listing) (contentType string, document pages.Page) {
	chosen, fetched := ParseListingAccept(accept)
	if _, order, sorted := strings.Cut(accept, inOrder); sorted {
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

// ListingLanguage returns the value of Accept-Language for a resource that may be a listing with a chosen
// Accept: the same value for all clients that get the same page, and "" for other types than HTML.
func ListingLanguage(design *pages.Design, chosen, languages string) string {
	if !strings.HasPrefix(chosen, pages.Type) {
		return ""
	}
	return design.For(languages).Accept()
}

// ParseListingAccept returns the media type in a value of ListingAccept, and whether the client uses /fetch.
func ParseListingAccept(accept string) (chosen string, fetched bool) {
	chosen, _, _ = strings.Cut(accept, inOrder)
	return strings.CutSuffix(chosen, throughFetch)
}

// sortItems sorts the items of a directory or a list of groups; those without a value come last.
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

// datable returns a listing without times that RFC 3339, and therefore JSON, cannot represent.
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

// linksBy returns the function from a URI to the target of its link on a page of this server.
func linksBy(fetched bool) func(string) string {
	return func(u string) string {
		if fetched {
			return route.FetchTarget(u)
		}
		return u
	}
}
