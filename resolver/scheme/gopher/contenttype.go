package gopher

import (
	"bytes"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// contentType returns the media type of a document by the view that was asked for, if the server knows views,
// by the type of the item, and by its name and first octets.
func contentType(q request, isPlus bool, head []byte) string {
	if isPlus {
		if view := viewType(q.Plus); view != "" {
			return scheme.WithCharset(view, head)
		}
	}
	switch q.Type {
	case typeText, typeUUEncoded:
		if isText(head) {
			return scheme.WithCharset("text/plain", head)
		}
	case typeBinHex:
		return "application/mac-binhex40" // RFC 1741
	case typeHTML:
		if isText(head) {
			return scheme.WithCharset("text/html", head)
		}
	}
	if sniffed := scheme.MediaType("", head); itemKind(q.Type) == scheme.ItemImage && strings.HasPrefix(sniffed, "image/") {
		return sniffed // whatever its name is
	}
	return scheme.WithCharset(scheme.MediaType(q.Selector, head), head)
}

// isText reports whether octets look like text in some charset.
func isText(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }
