package route

import (
	"net/url"
	"slices"
	"strings"
)

// Parameters are the rules that normalize the parameters of a query before it becomes part of a cache key and
// is forwarded: parameters without a meaning to servers would else create many copies of one response. The
// zero value changes nothing.
type Parameters struct {
	Ignored []string // names, percent-decoded; a name that ends with "*" is a prefix
	Sorted  bool     // by name; the sort is stable
}

// isZero reports whether p changes nothing.
func (p *Parameters) isZero() bool { return len(p.Ignored) == 0 && !p.Sorted }

// of returns a target with its normalized parameters. The fragment is unchanged.
func (p *Parameters) of(target string) string {
	target, fragment, hasFragment := strings.Cut(target, "#")
	path, query, hasQuery := strings.Cut(target, "?")
	if !hasQuery {
		return rejoin(target, "#", fragment, hasFragment)
	}
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(pair string) bool { return p.ignores(nameOf(pair)) })
	if p.Sorted {
		slices.SortStableFunc(kept, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	}
	return rejoin(rejoin(path, "?", strings.Join(kept, "&"), len(kept) > 0), "#", fragment, hasFragment)
}

// rejoin is the reverse of strings.Cut.
func rejoin(before, separator, after string, found bool) string {
	if !found {
		return before
	}
	return before + separator + after
}

// nameOf returns the name of a parameter, percent-decoded.
func nameOf(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	if decoded, err := url.QueryUnescape(name); err == nil {
		return decoded
	}
	return name
}

func (p *Parameters) ignores(name string) bool {
	return slices.ContainsFunc(p.Ignored, func(ignored string) bool {
		beginning, isPattern := strings.CutSuffix(ignored, "*")
		return isPattern && strings.HasPrefix(name, beginning) || name == ignored
	})
}
