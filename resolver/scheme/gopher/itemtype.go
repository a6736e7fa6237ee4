package gopher

import "github.com/urnd/urnd/resolver/scheme"

// The item types with special handling: RFC 1436 section 3.8. Of the later types, h and i are in general use.
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

// itemKind returns the scheme.Item constant for an item type.
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

// endsByDot reports whether documents of a type are dot-terminated texts. HTML pages are not: servers send them
// as files, and their scripts may have lines that start with dots.
func endsByDot(t byte) bool { return t == typeText || t == typeBinHex || t == typeUUEncoded }
