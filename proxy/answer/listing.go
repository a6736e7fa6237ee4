package answer

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
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

func listingTypes() []contenttype.MediaType {
	return []contenttype.MediaType{
		contenttype.NewMediaType(pages.Type), contenttype.NewMediaType(listingJSON), contenttype.NewMediaType(listingText), contenttype.NewMediaType(linksetType),
	}
}

// ListingAccept returns the field Accept for what may be a listing, with the one representation that suits
// the client best: a page where it says nothing else.
func ListingAccept(header http.Header, fetched bool) string {
	chosen := pages.Type
	if accept := message.List(header, "Accept"); accept != "" {
		if media, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept, listingTypes()); err == nil {
			chosen = media.MIME()
		}
	}
	if fetched {
		chosen += throughFetch
	}
	return chosen
}

// Listing returns a listing as a document of the type that ListingAccept has chosen.
func Listing(header http.Header, l *scheme.Listing) (contentType string, body []byte) {
	accept, fetched := AcceptOf(header)
	switch accept.Get("Accept") {
	case listingJSON:
		return listingJSON, message.Marshal(datable(l))
	case listingText:
		return listingText + "; charset=utf-8", pages.ListingText(l)
	case linksetType:
		return linksetType, linksetOf(l)
	default:
		return pages.ContentType, pages.Listing(l, linksBy(fetched))
	}
}

// AcceptOf returns the field Accept of a client for which ListingAccept has chosen, alone, and whether it
// has asked at /fetch.
func AcceptOf(header http.Header) (accept http.Header, fetched bool) {
	chosen, fetched := strings.CutSuffix(header.Get("Accept"), throughFetch)
	return http.Header{"Accept": {chosen}}, fetched
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
			return message.Fetched(u)
		}
		return u
	}
}
