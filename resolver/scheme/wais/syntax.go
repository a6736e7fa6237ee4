package wais

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// syntax is a record syntax, or a document format: ISO 23950 appendix REC, and the registry of object
// identifiers of the Library of Congress.
type syntax struct {
	name      string // in lower case, as in RFC 2056, and as the type in a wais URL
	id        string // object identifier
	mediaType string // of an unchanged record; "" if it can only be converted to text
}

const recordSyntaxes = "1.2.840.10003.5."

const (
	idUSMARC = recordSyntaxes + "10"
	idSUTRS  = recordSyntaxes + "101"
	idOPAC   = recordSyntaxes + "102"
	idGRS1   = recordSyntaxes + "105"
	idXML    = recordSyntaxes + "109.10"
)

// mediaTypeMARC is the media type of RFC 2220.
const mediaTypeMARC = "application/marc"

// syntaxes returns the syntaxes that are requested by default, in order of preference: complete records that
// can be converted to text here come before the text of the server, which often omits fields.
func syntaxes() []syntax {
	return []syntax{
		{"usmarc", idUSMARC, mediaTypeMARC},
		{"xml", idXML, "application/xml"},
		{"sutrs", idSUTRS, "text/plain; charset=utf-8"},
		{"grs-1", idGRS1, ""},
		{"opac", idOPAC, ""},
	}
}

// knownSyntaxes returns all known syntaxes, including those that are used only on request.
func knownSyntaxes() []syntax {
	return append(syntaxes(),
		syntax{"marc", idUSMARC, mediaTypeMARC},
		syntax{"marc21", idUSMARC, mediaTypeMARC},
		syntax{"unimarc", recordSyntaxes + "1", mediaTypeMARC},
		syntax{"ukmarc", recordSyntaxes + "11", mediaTypeMARC},
		syntax{"danmarc", recordSyntaxes + "14", mediaTypeMARC},
		syntax{"grs", idGRS1, ""},
		syntax{"pdf", recordSyntaxes + "109.1", "application/pdf"},
		syntax{"ps", recordSyntaxes + "109.2", "application/postscript"},
		syntax{"html", recordSyntaxes + "109.3", "text/html"},
		syntax{"tiff", recordSyntaxes + "109.4", "image/tiff"},
		syntax{"gif", recordSyntaxes + "109.5", "image/gif"},
		syntax{"jpeg", recordSyntaxes + "109.6", "image/jpeg"},
		syntax{"png", recordSyntaxes + "109.7", "image/png"},
		syntax{"sgml", recordSyntaxes + "109.9", "text/plain; charset=utf-8"},
	)
}

// lookupSyntax returns the syntax with a name or an object identifier.
func lookupSyntax(name string) (syntax, bool) {
	for _, s := range knownSyntaxes() {
		if uri.EqualFold(name, s.name) || s.id == name {
			return s, true
		}
	}
	if _, err := parseObjectID(name); err == nil && strings.HasPrefix(name, recordSyntaxes) {
		return syntax{name: name, id: name}, true
	}
	return syntax{}, false
}

// isMARC reports whether an identifier is one of the national formats of ISO 2709.
func isMARC(id string) bool {
	last, ok := strings.CutPrefix(id, recordSyntaxes)
	return ok && len(last) <= 2 && last >= "1" && last <= "99"
}
