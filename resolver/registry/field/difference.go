package field

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// FormattedField is the value of a field, formatted for display.
type FormattedField struct {
	Label       string // of the field
	MultiValued bool   // the field has several values, one per line
	Lines       []string
}

// FormatRecord returns the value of each field of a record, except for read-only ones. An empty field has no lines.
func FormatRecord(r *registry.Record) []FormattedField {
	all := make([]FormattedField, 0, len(record))
	for _, f := range record {
		if !f.ReadOnly {
			all = append(all, f.Format(r))
		}
	}
	return all
}

// Format returns the value of the field in v.
func (f *Field[T]) Format(v *T) FormattedField {
	return FormattedField{f.Label, f.Type == List || f.Type == Targets, f.Lines(v)}
}

// Change is the difference of two versions in a field.
type Change struct {
	Label         string
	MultiValued   bool
	Before, After []string // the lines that only one version has
	// Order is set if both versions have the same lines in a different order: then Before and After are
	// complete.
	Order bool
}

// Compare returns the differences of facts, in the order of the labels in before, followed by those only in
// after.
func Compare(before, after []FormattedField) (all []Change) {
	a, b := LinesOf(before), LinesOf(after)
	seen := make(map[string]bool, len(before))
	for _, f := range slices.Concat(before, after) {
		if seen[f.Label] || slices.Equal(a[f.Label], b[f.Label]) {
			continue
		}
		seen[f.Label] = true
		first, second := a[f.Label], b[f.Label]
		c := Change{
			Label: f.Label, MultiValued: f.MultiValued, Before: without(first, second),
			After: without(second, first),
		}
		if c.Before == nil && c.After == nil {
			c.Order, c.Before, c.After = true, first, second
		}
		all = append(all, c)
	}
	return all
}

// LinesOf returns the lines of fields by label.
func LinesOf(facts []FormattedField) map[string][]string {
	lines := make(map[string][]string, len(facts))
	for _, f := range facts {
		lines[f.Label] = f.Lines
	}
	return lines
}

// without returns the lines of list that are not in other.
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

// Difference is one difference between two records, formatted for display.
type Difference struct {
	Field string `json:"field"` // "status", "target"
	// Before and After are the values. Before is "" for an added value, After for a removed one.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// OrderPrefix is the prefix of Difference.Field for a change of order.
const OrderPrefix = "order of each "

// Differences returns the differences of two records, in the order of the table; nil if they are equal except
// for read-only fields.
func Differences(before, after registry.Record) (all []Difference) {
	if after.Since = before.Since; before.Equal(&after) {
		return nil
	}
	for _, c := range Compare(FormatRecord(&before), FormatRecord(&after)) {
		switch {
		case c.Order:
			before, after := strings.Join(c.Before, ", "), strings.Join(c.After, ", ")
			all = append(all, Difference{OrderPrefix + c.Label, before, after})
		case c.MultiValued:
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
