package gopher

import "github.com/urnd/urnd/resolver/scheme"

// The types of items with a meaning of their own: RFC 1436 section 3.8. Of the types that came later, h and
// i are in general use.
const (
	typeText      = '0'
	typeMenu      = '1'
	typeCSO       = '2'
	typeError     = '3'
	typeBinHex    = '4'
	typeUUEncoded = '6'
	typeSearch    = '7'
	typeTelnet    = '8'
	typeRedundant = '+'
	typeTN3270    = 'T'
	typeGIF       = 'g'
	typeHTML      = 'h'
	typeInfo      = 'i'
)

// itemKind returns the kind that a listing has for a type.
func itemKind(t byte) string {
	switch t {
	case typeText, typeUUEncoded:
		return scheme.ItemText
	case typeMenu:
		return scheme.ItemDirectory
	case typeError:
		return scheme.ItemError
	case typeBinHex, '5':
		return scheme.ItemArchive
	case typeSearch:
		return scheme.ItemSearch
	case typeTelnet, typeTN3270:
		return scheme.ItemSession
	case '9':
		return scheme.ItemFile
	case typeGIF, 'I', 'p', ':':
		return scheme.ItemImage
	case 's', '<':
		return scheme.ItemSound
	case ';':
		return scheme.ItemVideo
	case 'd', 'P', 'r':
		return scheme.ItemDocument
	case typeHTML:
		return scheme.ItemWeb
	case typeInfo:
		return scheme.ItemInfo
	default:
		return scheme.ItemOther
	}
}

// endsByDot reports whether documents of a type are texts of lines, of which the last is a dot. Pages are
// not: servers send them as files, and a script in them may well have lines that begin with dots.
func endsByDot(t byte) bool { return t == typeText || t == typeBinHex || t == typeUUEncoded }
