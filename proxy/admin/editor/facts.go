package editor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// facts returns all that a document says, in the order in which people read it; what it does not say has no lines. Of members that no page
// knows the JSON is shown.
func (d document) facts() (all []field.Fact) {
	n := d.name()
	for _, f := range field.OfRecord() {
		fact := f.Fact(&n.Record)
		fact.Label = strings.ToUpper(fact.Label[:1]) + fact.Label[1:]
		if fact.Many {
			fact.Label += "s"
		}
		switch {
		case f.ReadOnly:
			continue
		case f.Type == field.JSON:
			all = append(all, factsOf(fact.Label, d[f.Name])...)
			continue
		case f.Type == field.Status && len(d) == 0:
			fact.Lines = nil
		}
		all = append(all, fact)
	}
	redacted := field.Fact{Label: "Content"}
	if n.Redacted {
		redacted.Lines = []string{"redacted"}
	}
	return append(append(all, redacted), d.others()...)
}

// others returns what a document says in members that no page knows.
func (d document) others() (all []field.Fact) {
	for name, value := range d {
		if !readOnly(name) && field.OfRecord().Find(name) == nil {
			all = append(all, field.Fact{Label: name, Lines: []string{compact(value)}})
		}
	}
	slices.SortFunc(all, func(a, b field.Fact) int { return strings.Compare(a.Label, b.Label) })
	return all
}

// factsOf returns what the object of a field says, a member each.
func factsOf(label string, object json.RawMessage) (all []field.Fact) {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	members, err := membersOf(object)
	if err != nil {
		return []field.Fact{{Label: label, Lines: []string{compact(object)}}}
	}
	for _, m := range members {
		f := field.Fact{Label: label + ": " + m.Name}
		switch text, list, isText, isList := words(m.Value); {
		case isText:
			f.Lines = []string{text}
		case isList:
			f.Lines = list
		default:
			f.Lines = []string{compact(m.Value)}
		}
		all = append(all, f)
	}
	return all
}

// compact returns JSON without the white space between its parts, by which no value differs.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// difference is how two versions differ in a field.
type difference struct {
	Field          string
	Removed, Added []string
	// More is how many lines are not in Removed and Added, since there are too many for a list.
	More int
	// Order is set where the same lines are in another order.
	Order bool
}

// differences returns how two documents differ.
func differences(before, after document) (all []difference) {
	for _, c := range field.Compare(before.facts(), after.facts()) {
		all = append(all, difference{Field: c.Label, Removed: c.Before, Added: c.After, Order: c.Order})
	}
	return all
}
