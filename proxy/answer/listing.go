package answer

import (
	"net/http"
	"strings"

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

// ThroughFetch is the parameter of a media type in Accept by which the links of a page lead to /fetch of
// this server. So representations of either kind are told apart wherever they are cached.
const ThroughFetch = ";links=fetch"

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
		chosen += ThroughFetch
	}
	return chosen
}

// Listing returns a listing as a document of the type that ListingAccept has chosen.
func Listing(header http.Header, l *scheme.Listing) (contentType string, body []byte) {
	chosen, fetched := strings.CutSuffix(header.Get("Accept"), ThroughFetch)
	switch chosen {
	case listingJSON:
		return listingJSON, message.Marshal(l)
	case listingText:
		return listingText + "; charset=utf-8", pages.ListingText(l)
	case linksetType:
		return linksetType, linksetOf(l)
	default:
		return pages.ContentType, pages.Listing(l, linksBy(fetched))
	}
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
