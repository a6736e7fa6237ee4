package wais

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// syntax is a record syntax, or a format that documents have: ISO 23950 appendix REC and the register of
// object identifiers at the Library of Congress.
type syntax struct {
	name      string // as in RFC 2056, and as the type of a wais URL; without regard to case
	id        string // object identifier
	mediaType string // of a record as it is; "" where only a text can be made of it
}

const recordSyntaxes = "1.2.840.10003.5."

const (
	idSUTRS = recordSyntaxes + "101"
	idOPAC  = recordSyntaxes + "102"
	idGRS1  = recordSyntaxes + "105"
	idXML   = recordSyntaxes + "109.10"
)

// mediaTypeMARC is RFC 2220.
const mediaTypeMARC = "application/marc"

// syntaxes are those that are known, the preferred ones first: a text that the server made for people, then
// what a text can be made of here.
func syntaxes() []syntax {
	return []syntax{
		{"SUTRS", idSUTRS, "text/plain; charset=utf-8"},
		{"USMARC", recordSyntaxes + "10", mediaTypeMARC},
		{"XML", idXML, "application/xml"},
		{"GRS-1", idGRS1, ""},
		{"OPAC", idOPAC, ""},
	}
}

// asked are known as well, but only sent to who asks for them.
func asked() []syntax {
	return append(syntaxes(),
		syntax{"MARC", recordSyntaxes + "10", mediaTypeMARC},
		syntax{"MARC21", recordSyntaxes + "10", mediaTypeMARC},
		syntax{"UNIMARC", recordSyntaxes + "1", mediaTypeMARC},
		syntax{"UKMARC", recordSyntaxes + "11", mediaTypeMARC},
		syntax{"DANMARC", recordSyntaxes + "14", mediaTypeMARC},
		syntax{"GRS", idGRS1, ""},
		syntax{"PDF", recordSyntaxes + "109.1", "application/pdf"},
		syntax{"PS", recordSyntaxes + "109.2", "application/postscript"},
		syntax{"HTML", recordSyntaxes + "109.3", "text/html"},
		syntax{"TIFF", recordSyntaxes + "109.4", "image/tiff"},
		syntax{"GIF", recordSyntaxes + "109.5", "image/gif"},
		syntax{"JPEG", recordSyntaxes + "109.6", "image/jpeg"},
		syntax{"PNG", recordSyntaxes + "109.7", "image/png"},
		syntax{"SGML", recordSyntaxes + "109.9", "text/plain; charset=utf-8"},
	)
}

// lookupSyntax returns the syntax with a name or an object identifier.
func lookupSyntax(name string) (syntax, bool) {
	for _, s := range asked() {
		if uri.EqualFold(s.name, name) || s.id == name {
			return s, true
		}
	}
	if _, err := parseObjectID(name); err == nil && strings.HasPrefix(name, recordSyntaxes) {
		return syntax{name: name, id: name}, true
	}
	return syntax{}, false
}

// isMARC reports whether an identifier is one of the national forms of ISO 2709.
func isMARC(id string) bool {
	last, ok := strings.CutPrefix(id, recordSyntaxes)
	return ok && len(last) <= 2 && last >= "1" && last <= "99"
}
