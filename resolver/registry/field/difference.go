package field

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// Fact is what an entry says in a field, in words for people.
type Fact struct {
	Label string // of the field
	Many  bool   // the field has several values, a line each
	Lines []string
}

// Facts returns what a record says in each field of the table but those that the registry sets; empty fields have no
// lines.
func Facts(r *registry.Record) []Fact {
	all := make([]Fact, 0, len(record))
	for _, f := range record {
		if !f.ReadOnly {
			all = append(all, f.Fact(r))
		}
	}
	return all
}

// Fact returns what v says in the field.
func (f *Field[T]) Fact(v *T) Fact {
	return Fact{f.Label, f.Type == List || f.Type == Targets, f.Lines(v)}
}

// Change is how two versions differ in a field.
type Change struct {
	Label         string
	Many          bool
	Before, After []string // the lines that only one of both has
	// Order is set where both have the same lines in another order: Before and After are all of them.
	Order bool
}

// Compare returns how facts differ, in the order of the labels of before and then those of after.
func Compare(before, after []Fact) (all []Change) {
	a, b := LinesOf(before), LinesOf(after)
	seen := make(map[string]bool, len(before))
	for _, f := range slices.Concat(before, after) {
		if seen[f.Label] || slices.Equal(a[f.Label], b[f.Label]) {
			continue
		}
		seen[f.Label] = true
		first, second := a[f.Label], b[f.Label]
		c := Change{Label: f.Label, Many: f.Many, Before: without(first, second), After: without(second, first)}
		if c.Before == nil && c.After == nil {
			c.Order, c.Before, c.After = true, first, second
		}
		all = append(all, c)
	}
	return all
}

// LinesOf returns the lines of facts by their labels.
func LinesOf(facts []Fact) map[string][]string {
	lines := make(map[string][]string, len(facts))
	for _, f := range facts {
		lines[f.Label] = f.Lines
	}
	return lines
}

// without returns the lines that another list has not.
func without(list, other []string) (all []string) {
	has := make(map[string]bool, len(other))
	for _, line := range other {
		has[line] = true
	}
	for _, line := range list {
		if !has[line] {
			all = append(all, line)
		}
	}
	return all
}

// Difference is one difference between two records, in words for people.
type Difference struct {
	Field string `json:"field"` // "status", "target"
	// Before and After are the values. Before is "" for what was added, After for what was removed.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// OrderOf is what the field of a difference begins with whose lines are in another order.
const OrderOf = "order of each "

// Differences returns how a record differs from the one before it, in the order of the table; nil if they are equal but
// for what only the registry sets.
func Differences(before, after registry.Record) (all []Difference) {
	if after.Since = before.Since; before.Equal(&after) {
		return nil
	}
	for _, c := range Compare(Facts(&before), Facts(&after)) {
		switch {
		case c.Order:
			before, after := strings.Join(c.Before, ", "), strings.Join(c.After, ", ")
			all = append(all, Difference{OrderOf + c.Label, before, after})
		case c.Many:
			for _, line := range c.Before {
				all = append(all, Difference{Field: c.Label, Before: line})
			}
			for _, line := range c.After {
				all = append(all, Difference{Field: c.Label, After: line})
			}
		default:
			all = append(all, Difference{c.Label, strings.Join(c.Before, ""), strings.Join(c.After, "")})
		}
	}
	return all
}
