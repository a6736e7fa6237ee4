package editor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// fact is what a version says in a field, a line each.
type fact struct {
	Field string
	Lines []string
}

// facts returns all that a document says, in the order in which people read it; what it does not say has no lines. Of members that no page
// knows the JSON is shown.
func (d document) facts() (all []fact) {
	n := d.name()
	one := func(field, text string) {
		f := fact{Field: field}
		if text != "" {
			f.Lines = []string{text}
		}
		all = append(all, f)
	}
	status := ""
	if len(d) > 0 {
		status = n.Status.String()
	}
	one("Status", status)
	one("Reason", n.Reason)
	all = append(all, fact{"Successors", n.Successors})
	one("Alias of", n.Alias)
	var targets []string
	for _, t := range n.Targets {
		targets = append(targets, registry.Target(t).String())
	}
	all = append(all, fact{"Targets", targets})
	all = append(all, factsOf(d["metadata"])...)
	one("Contact", n.Contact)
	redirect := ""
	if n.Redirect != 0 {
		redirect = strconv.Itoa(n.Redirect)
	}
	one("Redirect", redirect)
	one("Pattern", n.Pattern)
	one("Authoritative", textOfBool(n.Authoritative))
	one("Sandbox", textOfBool(n.Sandbox))
	one("Content", map[bool]string{true: "redacted"}[n.Redacted])
	return append(all, d.others()...)
}

func textOfBool(is bool) string {
	if is {
		return yes
	}
	return ""
}

// others returns what a document says in members that no page knows.
func (d document) others() (all []fact) {
	known := append(readOnly(), "status", "reason", "successors", "alias", "targets", "metadata", "contact", "redirect", "pattern", "authoritative", "sandbox")
	for name, value := range d {
		if !slices.Contains(known, name) {
			all = append(all, fact{name, []string{compact(value)}})
		}
	}
	slices.SortFunc(all, func(a, b fact) int { return strings.Compare(a.Field, b.Field) })
	return all
}

// factsOf returns what metadata says, a member each.
func factsOf(metadata json.RawMessage) (all []fact) {
	if len(metadata) == 0 || string(metadata) == "null" {
		return nil
	}
	members, err := membersOf(metadata)
	if err != nil {
		return []fact{{"Metadata", []string{compact(metadata)}}}
	}
	for _, m := range members {
		f := fact{Field: "Metadata: " + m.name}
		switch text, list, isText, isList := words(m.value); {
		case isText:
			f.Lines = []string{text}
		case isList:
			f.Lines = list
		default:
			f.Lines = []string{compact(m.value)}
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
	first, second := before.facts(), after.facts()
	a, b := byField(first), byField(second)
	for _, f := range fieldsOf(first, second) {
		if slices.Equal(a[f], b[f]) {
			continue
		}
		d := difference{Field: f, Removed: without(a[f], b[f]), Added: without(b[f], a[f])}
		if d.Removed == nil && d.Added == nil {
			d.Order, d.Removed, d.Added = true, a[f], b[f]
		}
		all = append(all, d)
	}
	return all
}

// fieldsOf returns the fields of several lists of facts, those of the first one first.
func fieldsOf(lists ...[]fact) (all []string) {
	seen := make(map[string]bool)
	for _, list := range lists {
		for _, f := range list {
			if !seen[f.Field] {
				seen[f.Field] = true
				all = append(all, f.Field)
			}
		}
	}
	return all
}

// byField returns the lines of facts by their fields.
func byField(facts []fact) map[string][]string {
	all := make(map[string][]string, len(facts))
	for _, f := range facts {
		all[f.Field] = f.Lines
	}
	return all
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
