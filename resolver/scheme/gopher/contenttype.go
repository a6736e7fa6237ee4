package gopher

import (
	"bytes"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// contentType returns the media type of a document: by the requested view if the server speaks Gopher+, then by
// the item type, the name and the first bytes.
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
	if sniffed := scheme.MediaType("", head); itemKind(q.Type) == scheme.ItemImage &&
		strings.HasPrefix(sniffed, "image/") {
		return sniffed // whatever the name says
	}
	return scheme.WithCharset(scheme.MediaType(q.Selector, head), head)
}

// isText reports whether the bytes look like text in some charset: they contain no NUL.
func isText(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }
