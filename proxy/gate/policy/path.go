package policy

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// hasPath reports whether the path of a request matches the rule: see Rule.Paths.
func (r *rule) hasPath(request *Request) bool { return r.hasEachPath(request, r.isPath) }

// hasEachPath reports whether the predicate holds for the path of a request: for a denying rule, for one of
// the paths that servers may read it as; for an allowing rule, for each of them.
func (r *rule) hasEachPath(request *Request, is func(path string) bool) bool {
	if request.Path == "" {
		return false
	}
	if request.SentPath == "" && uri.IsPlainPath(request.Path) {
		return is(request.Path)
	}
	if r.Deny && is(request.Path) {
		return true
	}
	for _, path := range [...]string{request.Path, request.SentPath} {
		if path == "" {
			continue
		}
		for _, reading := range uri.PathReadings(path) {
			if is(reading) == r.Deny {
				return r.Deny
			}
		}
	}
	return !r.Deny
}

func (r *rule) isPath(path string) bool {
	for _, pattern := range r.Paths {
		if matchesText(pattern, path) {
			return true
		}
	}
	return false
}

// matchesText reports whether a text matches a pattern, in which "*" stands for any characters. The time is
// proportional to both lengths: for each "*" but the last the shortest match suffices.
func matchesText(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for {
		part, more, another := strings.Cut(rest, "*")
		if !another {
			return strings.HasSuffix(text, rest)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], more
	}
}
