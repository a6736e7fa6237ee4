package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// newFolding makes what uri needs of a fold and the octets that do not count.
func newFolding(fold Fold, strip string) uri.Folding {
	switch fold {
	case FoldLower:
		return uri.NewFolding(uri.LowerCase, strip, 0)
	case FoldUpper:
		return uri.NewFolding(uri.UpperCase, strip, 0)
	case FoldPrefix:
		return uri.NewFolding(uri.LowerCase, strip, '-')
	case FoldFirst:
		return uri.NewFolding(uri.LowerCase, strip, ':')
	default:
		return uri.NewFolding(uri.KeepCase, strip, 0)
	}
}

// foldingOf returns how one name becomes canonical; r may be nil.
func (r *row) foldingOf(nss string) uri.Folding {
	switch {
	case r == nil:
		return uri.Folding{}
	case r.ns.Fold == FoldPrefix && strings.IndexByte(nss, '-') < 0:
		return r.first
	case r.knows.exact != "" && hasPrefixFold(nss, r.knows.exact):
		return r.first
	default:
		return r.folding
	}
}

// hasPrefixFold reports whether s begins with a prefix in lower case, in any case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && equalFold(s[:len(prefix)], prefix)
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
