package route

import (
	"net/url"
	"slices"
	"strings"
)

// Parameters are what is done with the parameters of a query before it is a part of the key of a response, and sent: those that mean
// nothing to servers would else make as many copies of one response. The zero value leaves all as they are.
type Parameters struct {
	Ignored []string // names, percent-decoded, or the beginnings of names where they end with "*"
	Sorted  bool     // by name; those of one name stay in their order
}

// isZero reports whether all stay as they are.
func (p *Parameters) isZero() bool { return len(p.Ignored) == 0 && !p.Sorted }

// of returns a target with the parameters that are left, or as it is where nothing changes.
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
