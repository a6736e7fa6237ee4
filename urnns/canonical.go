package urnns

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// newFolding returns the uri.Folding of a fold and the bytes to strip.
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

// foldingOf returns the folding for an NSS; r may be nil.
func (r *row) foldingOf(nss string) uri.Folding {
	switch {
	case r == nil:
		return uri.Folding{}
	case r.check.foldedPrefix != "" && hasPrefixFold(nss, r.check.foldedPrefix):
		return r.lower
	case r.ns.Fold == FoldPrefix && strings.IndexByte(nss, '-') < 0:
		return r.first
	case r.check.exactPrefix != "" && hasPrefixFold(nss, r.check.exactPrefix):
		return r.first
	default:
		return r.folding
	}
}

// hasPrefixFold reports whether s starts with prefix, ignoring case; prefix is in lower case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && uri.EqualFold(s[:len(prefix)], prefix)
}
