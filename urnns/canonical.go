package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// appendName appends the canonical form of the name of v: "urn:", the NID in
// lower case, and the NSS by the rules of ns (nil: RFC 8141 alone).
func appendName(dst []byte, v uri.URN, ns *Namespace) []byte {
	dst = append(dst, "urn:"...)
	for _, b := range []byte(v.NID()) {
		dst = append(dst, lower(b))
	}
	dst = append(dst, ':')
	fold, strip := FoldNone, ""
	if ns != nil {
		fold, strip = ns.Fold, ns.Strip
	}
	nss := v.NSS()
	for i := 0; i < len(nss); i++ {
		b := nss[i]
		switch {
		case b == '%': // RFC 8141 section 3.1: upper case, never decoded
			dst = append(dst, '%', upper(nss[i+1]), upper(nss[i+2]))
			i += 2
		case b == '-' && fold == FoldPrefix, b == ':' && fold == FoldFirst:
			fold = FoldNone
			dst = append(dst, b)
		case strings.IndexByte(strip, b) >= 0:
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
