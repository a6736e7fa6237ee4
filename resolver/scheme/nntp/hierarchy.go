package nntp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// hierarchies counts the groups of a pattern such as "*" and "comp.*" by the next component of their names.
type hierarchies struct {
	prefix     string // of the pattern, without the star
	isOne      bool   // the pattern is a prefix followed by a star
	counts     map[string]int64
	incomplete string // why hierarchies are missing; "" if complete
}

func newHierarchies(pattern string) *hierarchies {
	prefix, isPrefix := strings.CutSuffix(pattern, "*")
	isOne := isPrefix && !strings.ContainsAny(prefix, "*?") && (prefix == "" || strings.HasSuffix(prefix, "."))
	return &hierarchies{prefix: prefix, isOne: isOne, counts: make(map[string]int64)}
}

// add counts a group; most is the maximum number of hierarchies.
func (h *hierarchies) add(name string, most int) {
	part, _, below := strings.Cut(strings.TrimPrefix(name, h.prefix), ".")
	if !h.isOne || !below || part == "" {
		return
	}
	key := h.prefix + part + "."
	if _, known := h.counts[key]; !known && len(h.counts) == most {
		h.incomplete = fmt.Sprintf("only the first %d hierarchies are shown", most)
		return
	}
	h.counts[key]++
}

// isBetter reports whether to list hierarchies instead of groups: the groups fill more than a page, and the
// hierarchies are fewer.
func (h *hierarchies) isBetter(groups, page int) bool {
	return h.isOne && groups > page && len(h.counts) < groups
}

// hierarchyItems returns the hierarchies, and the groups that are in none or alone in theirs.
func (x exchange) hierarchyItems(groups []scheme.Item, h *hierarchies) []scheme.Item {
	var items []scheme.Item
	for _, g := range groups {
		part, _, below := strings.Cut(strings.TrimPrefix(g.Name, h.prefix), ".")
		if key := h.prefix + part + "."; !below || h.counts[key] == 1 {
			delete(h.counts, key)
			items = append(items, g)
		}
	}
	for key, count := range h.counts {
		items = append(items, scheme.Item{
			Kind: scheme.ItemDirectory, Name: scheme.DecodeText(key) + "*",
			URI: valid(x.target.links.news + escape(key) + "*"), Note: fmt.Sprintf("%d groups", count),
		})
	}
	slices.SortFunc(items, func(a, b scheme.Item) int { return cmp.Compare(a.Name, b.Name) })
	return items
}
