package gopher

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

// contentType returns the media type of a document by the view that was asked for, if the server knows views,
// by the type of the item, and by its name and first octets.
func contentType(q request, isPlus bool, head []byte) string {
	if isPlus {
		if view := viewType(q.Plus); view != "" {
			return withCharset(view, head)
		}
	}
	switch q.Type {
	case typeText, typeUUEncoded:
		if isText(head) {
			return withCharset("text/plain", head)
		}
	case typeBinHex:
		return "application/mac-binhex40" // RFC 1741
	case typeHTML:
		if isText(head) {
			return withCharset("text/html", head)
		}
	}
	if sniffed := scheme.MediaType("", head); itemKind(q.Type) == scheme.ItemImage && strings.HasPrefix(sniffed, "image/") {
		return sniffed // whatever its name is
	}
	return withCharset(scheme.MediaType(q.Selector, head), head)
}

// isText reports whether octets look like text in some charset.
func isText(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }

// withCharset adds to a type of text the charset of its first octets. RFC 1436 section 4 leaves it open:
// UTF-8 is what servers use today, and what they used before, Latin-1, is hardly ever valid in it.
func withCharset(media string, head []byte) string {
	if !strings.HasPrefix(media, "text/") {
		return media
	}
	if len(head) == scheme.SniffLength { // the last character may be cut
		for i := 1; i < utf8.UTFMax && i < len(head); i++ {
			if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
				if !utf8.FullRune(last) {
					head = head[:len(head)-i]
				}
				break
			}
		}
	}
	if utf8.Valid(head) {
		return media + "; charset=utf-8"
	}
	return media + "; charset=windows-1252"
}

// viewType returns the media type of a Gopher+ string that asks for a view, "+application/postscript Es_ES"
// (RFC 4266 section 2.8), or "" where none is of use: types that could run scripts are taken from items only, since the
// URL may come from anyone and servers need not heed it.
func viewType(plus string) string {
	view, _, _ := strings.Cut(strings.TrimPrefix(plus, "+"), " ")
	media, _, err := mime.ParseMediaType(view)
	if err != nil {
		return ""
	}
	main, sub, found := strings.Cut(media, "/")
	switch {
	case !found || strings.Contains(sub, "xml") || strings.Contains(sub, "script") && sub != "postscript":
		return ""
	case main == "image", main == "audio", main == "video", main == "application", media == "text/plain":
		return media
	default:
		return ""
	}
}

// viewLanguage returns the language tag of a view, "es-ES", or "".
func viewLanguage(plus string) string {
	_, language, _ := strings.Cut(plus, " ")
	language = strings.ReplaceAll(language, "_", "-")
	const longest = 35 // of a tag: RFC 5646 section 4.4.1
	if len(language) > longest || strings.Trim(language, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return ""
	}
	return language
}
