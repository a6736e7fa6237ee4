package uri

import "strings"

// arkScheme is the scheme of ARKs (draft-kunze-ark).
const arkScheme = "ark"

// ARK returns the ARK in a resolver URL, such as https://n2t.net/ark:/12345/x1, as written, and false for other
// URIs. The host is not part of the identity of an ARK: draft-kunze-ark section 3.2, step 1.
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

// Name returns the normal form of a name that is not a URN, without components that are not part of its
// identity: the fragment, and the query of an ARK (draft-kunze-ark section 3.2, step 2).
func (u URI) Name() URI {
	u = u.WithoutFragment()
	if u.hasScheme(arkScheme) {
		u = newURI(u.s[:u.queryStart()], u.schemeEnd(), u.pathStart(), u.queryStart(), u.queryStart())
	}
	return u.Normalize()
}

// Spelling returns the normal form of u, but keeps characters that are insignificant in names of its scheme:
// hyphens of an ARK, or the case of a DOI or of the prefix of a handle. For all other schemes it is Normalize.
func (u URI) Spelling() URI {
	switch schemes[u.row()].form {
	case formARK, formDOI, formHandle:
		return u.NormalizeSteps(AllSteps &^ SchemeForm)
	default:
		return u.Normalize()
	}
}

// arkForm replaces the path dst[start:] by the normal form of an ARK: draft-kunze-ark section 3.2. The label is
// "ark:/", as in printed names, although the draft writes "ark:": names need one form.
func arkForm(dst []byte, start int) []byte {
	const longest = 256 // longer ones go to the heap
	var buf [longest]byte
	name := appendARK(buf[:0], dst[start:])
	if len(name) == 0 {
		return dst
	}
	return append(append(dst[:start], '/'), name...)
}

// appendARK appends the part of an ARK after its label in normal form: the NAAN in lower case (step 4), without
// hyphens (step 6), slashes and periods only between other characters, and only the first of several (step 8).
func appendARK(dst, text []byte) []byte {
	inNAAN := true
	for len(text) > 0 {
		b := text[0]
		switch {
		case b == '%':
			dst = withoutHyphen(append(dst, text[:len("%00")]...))
			text = text[len("%00"):]
			continue
		case b == '-', isStructural(b) && (len(dst) == 0 || isStructural(dst[len(dst)-1])):
			text = text[1:]
			continue
		}
		if inNAAN = inNAAN && b != '/'; inNAAN {
			b = Lower(b)
		}
		dst, text = append(dst, b), text[1:]
	}
	for len(dst) > 0 && isStructural(dst[len(dst)-1]) {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func isStructural(b byte) bool { return b == '/' || b == '.' }

// withoutHyphen removes an encoded hyphen from the end of a name. U+2010 to U+2015, percent-encoded, count as
// hyphens, since typography substitutes them. Of the name, not of the text, since the removal of a hyphen between the
// bytes of another one joins these.
func withoutHyphen(name []byte) []byte {
	const encoded = "%E2%80%9"
	end := len(name) - 1
	if start := end - len(encoded); start >= 0 && string(name[start:end]) == encoded && '0' <= name[end] &&
		name[end] <= '5' {
		return name[:start]
	}
	return name
}
