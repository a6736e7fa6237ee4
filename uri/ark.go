package uri

import "strings"

// arkScheme begins an ARK, a name of draft-kunze-ark.
const arkScheme = "ark"

// ARK returns the ARK in the URL of a resolver, such as https://n2t.net/ark:/12345/x1, as it is written there; false is for other
// URIs. The host plays no part in which name an ARK is: draft-kunze-ark section 3.2, step 1.
func (u URI) ARK() (URI, bool) {
	if !u.IsWeb() {
		return URI{}, false
	}
	text := u.s[u.pathStart():]
	const label = "/" + arkScheme + ":"
	if len(text) <= len(label) || !EqualFold(text[:len(label)], label) || strings.HasPrefix(text[len(label):], "//") {
		return URI{}, false
	}
	ark, err := Parse(text[1:])
	return ark, err == nil
}

// Name returns the normal form of a name that is none of URNs, without what plays no part in it: of an ARK the query
// (draft-kunze-ark section 3.2, step 2), and of all the fragment.
func (u URI) Name() URI {
	u = u.WithoutFragment()
	if u.hasScheme(arkScheme) {
		u = newURI(u.s[:u.queryStart()], u.schemeEnd(), u.pathStart(), u.queryStart(), u.queryStart())
	}
	return u.Normalize()
}

// Spelling returns the normal form of u with the differences that the names of its scheme do not count: hyphens of an ARK, or the
// case of a DOI. It is that of Normalize for all other schemes.
func (u URI) Spelling() URI {
	switch schemes[u.row()].form {
	case formARK, formDOI, formHandle:
		return u.NormalizeSteps(AllSteps &^ SchemeForm)
	default:
		return u.Normalize()
	}
}

// arkForm makes the path dst[start:] that of the ARK to which all equivalent ones are compared: draft-kunze-ark section 3.2. The
// label is "ark:/", which names have in print, where the draft has "ark:": one of both must be the form of names.
func arkForm(dst []byte, start int) []byte {
	const longest = 256 // longer ones go to the heap
	var buf [longest]byte
	name := appendARK(buf[:0], dst[start:])
	if len(name) == 0 {
		return dst
	}
	return append(append(dst[:start], '/'), name...)
}

// appendARK appends what follows the label of an ARK: the NAAN in lower case (step 4), no hyphens (step 6), and slashes and periods
// only between other characters, of several the first (step 8).
func appendARK(dst, text []byte) []byte {
	inNAAN := true
	for len(text) > 0 {
		if n := hyphen(text); n > 0 {
			text = text[n:]
			continue
		}
		b := text[0]
		text = text[1:]
		if isStructural(b) {
			if len(dst) == 0 || isStructural(dst[len(dst)-1]) {
				continue
			}
			inNAAN = inNAAN && b != '/'
		}
		if inNAAN {
			b = Lower(b)
		}
		dst = append(dst, b)
	}
	for len(dst) > 0 && isStructural(dst[len(dst)-1]) {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func isStructural(b byte) bool { return b == '/' || b == '.' }

// hyphen returns the length of the hyphen that text begins with, 0 if there is none: also of U+2010 to U+2015, which typography
// makes of it.
func hyphen(text []byte) int {
	const encoded = "%E2%80%9"
	switch {
	case text[0] == '-':
		return 1
	case len(text) > len(encoded) && string(text[:len(encoded)]) == encoded && '0' <= text[len(encoded)] && text[len(encoded)] <= '5':
		return len(encoded) + 1
	default:
		return 0
	}
}
