package editor

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/title"
)

// texts are the values of form fields by name; empty ones may be missing.
type texts map[string]string

// Get returns the value of a field.
func (t texts) Get(name string) string { return t[name] }

// nameForm is the form of a name. It has the editable fields of a record, a list with one line per element;
// the parts of metadata with fields of their own, and "metadata" for the rest of metadata; "note"; "was", the
// status of the edited version, "" for a new name; and "rest", a JSON object with the members of the document
// that have no field, "" for none.
type nameForm struct {
	texts
	isPrefix bool
	Targets  []texts // with the fields of a target, "rest" and "remove"
}

// recordFields returns the fields of a record that the form shows unchanged. "sandbox" is not among them: it
// is set when a prefix is registered, and never changes.
func recordFields() (all field.Fields[registry.Record]) {
	for _, f := range field.RecordFields() {
		if !f.ReadOnly && f.Type != field.Targets && f.Type != field.JSON && f.Name != "sandbox" {
			all = append(all, f)
		}
	}
	return all
}

// targetFields returns the fields of a target in the order of the form.
func targetFields() field.Fields[registry.Target] {
	return field.TargetFields().Ordered(
		"uri", "type", "language", "title", "rel", "priority", "from", "until", "context", "note")
}

// Names of the fields of a form besides those of an entry.
const (
	inMetadata = "metadata"
	inNote     = "note"
	inWas      = "was"
	inRest     = "rest"
	inRemove   = "remove"
	inURI      = "uri"
)

// nameInputs returns the names of the form fields, except those of targets.
func nameInputs() []string {
	return slices.Concat(namesOf(recordFields(), inMetadata, inNote, inWas, inRest), metadataParts())
}

// targetInputs returns the names of the fields of a target.
func targetInputs() []string { return namesOf(targetFields(), inRest, inRemove) }

func namesOf[T any](fields field.Fields[T], others ...string) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return append(names, others...)
}

const (
	// spareTargets is the number of empty targets in a form, and of those added on request.
	spareTargets = 2
	// maxTargetForms limits the targets of a form, including empty ones.
	maxTargetForms = registry.MaxTargets + spareTargets
)

// targetField returns the name of the form field of a target.
func targetField(i int, name string) string { return "t" + strconv.Itoa(i) + "-" + name }

// typed returns a submitted form. Line ends are normalized to "\n".
func typed(sent url.Values) *nameForm {
	f := &nameForm{texts: make(texts)}
	get := func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(sent.Get(name), "\r\n", "\n"), "\r", "\n")
	}
	for _, name := range nameInputs() {
		f.texts[name] = strings.TrimSpace(get(name))
	}
	for _, part := range title.Parts() {
		if !part.MultiValued {
			f.texts[part.Name] = strings.ReplaceAll(f.texts[part.Name], "\n", " ")
		}
	}
	for i := range maxTargetForms {
		if _, ok := sent[targetField(i, inURI)]; !ok {
			break
		}
		t := make(texts)
		for _, name := range targetInputs() {
			text := get(targetField(i, name))
			if name != inRest && name != inNote { // they have a single line
				text = strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
			}
			t[name] = text
		}
		f.Targets = append(f.Targets, t)
	}
	return f
}

// hidden returns all fields of a form, to be preserved by hidden fields of another one.
func (f *nameForm) hidden() (all [][2]string) {
	for _, name := range nameInputs() {
		if f.texts[name] != "" {
			all = append(all, [2]string{name, f.texts[name]})
		}
	}
	for i, t := range f.Targets {
		for _, name := range targetInputs() {
			if t[name] != "" || name == inURI {
				all = append(all, [2]string{targetField(i, name), t[name]})
			}
		}
	}
	return all
}

// formOf returns the form of a document.
func formOf(d document) *nameForm {
	n := d.name()
	f := &nameForm{texts: textsOf(recordFields(), &n.Record)}
	f.texts[inWas] = n.Status.String()
	own, rest := split(d["metadata"])
	maps.Copy(f.texts, own)
	f.texts[inMetadata] = rest
	f.texts[inRest] = restOf(d, func(name string) bool {
		return readOnly(name) || name == "targets" || name == "metadata" || recordFields().Find(name) != nil
	})
	var raw []document
	_ = json.Unmarshal(d["targets"], &raw) // n was decoded from it
	for i := range n.Targets {
		t := textsOf(targetFields(), &n.Targets[i])
		t[inRest] = restOf(raw[i], func(name string) bool { return targetFields().Find(name) != nil })
		f.Targets = append(f.Targets, t)
	}
	return f
}

// yes is the value of a ticked checkbox.
const yes = "yes"

// textsOf returns the form values of the fields of v.
func textsOf[T any](fields field.Fields[T], v *T) texts {
	made := make(texts)
	for _, f := range fields {
		text := strings.Join(f.Lines(v), "\n")
		if t, err := plaintext.ParseTime(text); err == nil && f.Type == field.Time {
			text = t.UTC().Format(timeFormat)
		}
		made[f.Name] = text
	}
	return made
}

// restOf returns the unknown members of a document as a JSON object, "" for none.
func restOf(d document, known func(name string) bool) string {
	rest := make(document)
	for name, value := range d {
		if !known(name) {
			rest[name] = value
		}
	}
	text, err := field.Marshal(rest)
	if len(rest) == 0 || err != nil {
		return ""
	}
	return string(text)
}

// timeFormat is the format of the HTML input type datetime-local, which has no time zone. It is interpreted
// as UTC.
const timeFormat = "2006-01-02T15:04:05.999"

// timeOf parses a time as sent by browsers, or as typed in a browser without an input type for times.
func timeOf(text string) (t time.Time, ok bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, end := range []string{"", "Z", ":00Z"} { // the input type has no zone, and omits zero seconds
		if t, err := plaintext.ParseTime(text + end); err == nil {
			return t, true
		}
	}
	return t, false
}
