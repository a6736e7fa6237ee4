package editor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/title"
)

// facts returns all fields of a record in reading order; empty fields have no lines. object returns the JSON
// of a field of type JSON.
func facts(
	in pages.Writer, r *registry.Record, isRedacted bool, object func(*field.Field[registry.Record]) json.RawMessage,
) (all []field.FormattedField) {
	for _, f := range field.RecordFields() {
		fact := f.Format(r)
		fact.Label = labelOf(in, f.Name)
		switch {
		case f.ReadOnly:
			continue
		case f.Type == field.JSON:
			all = append(all, factsOf(in, fact.Label, object(f))...)
			continue
		case f.Type == field.Status && len(fact.Lines) > 0:
			fact.Lines = []string{in.Text("editor.status_" + fact.Lines[0])}
		case f.Type == field.Bool && len(fact.Lines) > 0:
			fact.Lines = []string{in.Text("jobs.yes")}
		case f.Type == field.Targets:
			fact.Lines = nil
			for i := range r.Targets {
				fact.Lines = append(fact.Lines,
					field.TargetText(&r.Targets[i], func(name string) string { return labelOf(in, name) }))
			}
		}
		all = append(all, fact)
	}
	redacted := field.FormattedField{Label: in.Text("label.content")}
	if isRedacted {
		redacted.Lines = []string{in.Text("label.redacted")}
	}
	return append(all, redacted)
}

// labelOf returns the label of a field of a record or a target.
func labelOf(in pages.Writer, name string) string { return in.Text("label." + name) }

// entryFacts returns all fields of an entry; they have no lines if the entry does not exist.
func entryFacts(in pages.Writer, e *registry.Entry) []field.FormattedField {
	all := facts(in, &e.Record, e.Redacted,
		func(f *field.Field[registry.Record]) json.RawMessage { return json.RawMessage(f.Text(&e.Record)) })
	return withoutStatus(in, all, !e.Exists())
}

// facts returns all fields of a document. Unknown members are shown as JSON.
func (d document) facts(in pages.Writer) []field.FormattedField {
	n := d.name()
	all := facts(in, &n.Record, n.Redacted, func(f *field.Field[registry.Record]) json.RawMessage { return d[f.Name] })
	return append(withoutStatus(in, all, len(d) == 0), d.others()...)
}

// withoutStatus removes the lines of the status if empty is true.
func withoutStatus(in pages.Writer, all []field.FormattedField, empty bool) []field.FormattedField {
	for i := range all {
		if empty && all[i].Label == in.Text("label.status") {
			all[i].Lines = nil
		}
	}
	return all
}

// others returns the unknown members of a document.
func (d document) others() (all []field.FormattedField) {
	for name, value := range d {
		if !readOnly(name) && field.RecordFields().Find(name) == nil {
			all = append(all, field.FormattedField{Label: name, Lines: []string{compact(value)}})
		}
	}
	slices.SortFunc(all, func(a, b field.FormattedField) int { return strings.Compare(a.Label, b.Label) })
	return all
}

// factsOf returns the members of the JSON object of a field.
func factsOf(in pages.Writer, label string, object json.RawMessage) (all []field.FormattedField) {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	members, err := membersOf(object)
	if err != nil {
		return []field.FormattedField{{Label: label, Lines: []string{compact(object)}}}
	}
	labels := make(map[int]string)
	for _, part := range title.Parts() {
		if i, _ := memberOfPart(&part, members); i >= 0 {
			labels[i] = labelOf(in, part.Name)
		}
	}
	for i, m := range members {
		f := field.FormattedField{Label: cmp.Or(labels[i], label+in.Text("frame.colon")+m.Name)}
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

// compact returns JSON without insignificant white space, so that equal values compare equal.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// difference is the difference of two versions in a field.
type difference struct {
	Field          string
	Removed, Added []string
	// More is the number of lines omitted from Removed and Added.
	More int
	// Order is true if only the order of the lines differs.
	Order bool
}

// differences returns the differences of two entries.
func differences(in pages.Writer, before, after *registry.Entry) (all []difference) {
	for _, c := range field.Compare(entryFacts(in, before), entryFacts(in, after)) {
		all = append(all, difference{Field: c.Label, Removed: c.Before, Added: c.After, Order: c.Order})
	}
	return all
}

// Limits of differences in lists, since a name may have 100 targets of 8 KiB each. The pages of a name show
// all of it.
const (
	shortLine  = 300 // bytes of a line
	shortLines = 10  // removed lines of a field, and added ones
	shortAll   = 50  // fields
)

// cut returns a text, shortened for lists.
func cut(text string) string { return plaintext.Shorten(text, shortLine) }

// short returns differences, shortened for lists.
func short(in pages.Writer, all []difference) []difference {
	more := len(all) - shortAll
	made := make([]difference, min(len(all), shortAll))
	for i := range made {
		made[i] = all[i]
		made[i].Field = cut(all[i].Field)
		made[i].Removed, made[i].Added = cutLines(all[i].Removed), cutLines(all[i].Added)
		made[i].More = len(all[i].Removed) + len(all[i].Added) - len(made[i].Removed) - len(made[i].Added)
	}
	if more > 0 {
		made = append(made, difference{Field: in.Text("label.others"), More: more})
	}
	return made
}

func cutLines(lines []string) []string {
	made := make([]string, min(len(lines), shortLines))
	for i := range made {
		made[i] = cut(strings.TrimSpace(lines[i]))
	}
	return made
}
