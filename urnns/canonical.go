package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// appendName appends the canonical form of the name of v: "urn:", the NID in
// lower case, and the NSS by the rules of r (nil: RFC 8141 alone).
func appendName(dst []byte, v uri.URN, r *row) []byte {
	dst = append(dst, "urn:"...)
	for _, b := range []byte(v.NID()) {
		dst = append(dst, lower(b))
	}
	dst = append(dst, ':')
	nss := v.NSS()
	fold, strip := FoldNone, ""
	if r != nil {
		fold, strip = r.foldOf(nss), r.ns.Strip
	}
	for i := 0; i < len(nss); i++ {
		b := nss[i]
		switch {
		case b == '%': // RFC 8141 section 3.1: upper case, never decoded
			dst = append(dst, '%', upper(nss[i+1]), upper(nss[i+2]))
			i += 2
		case b == '-' && fold == FoldPrefix, b == ':' && fold == FoldFirst:
			fold = FoldNone
			dst = append(dst, b)
		case strip != "" && strings.IndexByte(strip, b) >= 0:
		case fold == FoldLower || fold == FoldPrefix || fold == FoldFirst:
			dst = append(dst, lower(b))
		case fold == FoldUpper:
			dst = append(dst, upper(b))
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// foldOf returns the fold of one name.
func (r *row) foldOf(nss string) Fold {
	switch fold := r.ns.Fold; {
	case fold == FoldPrefix && strings.IndexByte(nss, '-') < 0:
		return FoldFirst
	case fold == FoldLower && r.knows.exact != nil && r.knows.exact(nss):
		return FoldFirst
	default:
		return fold
	}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - ('a' - 'A')
	}
	return b
}
