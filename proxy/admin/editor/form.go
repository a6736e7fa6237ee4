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

// texts are what a form has, by the names of its fields; those that are empty may be missing.
type texts map[string]string

// Get returns the text of a field.
func (t texts) Get(name string) string { return t[name] }

// nameForm is what a form has of a name. Its fields are those of a record which people edit, a list a line each; the parts
// of metadata that have fields of their own, and metadata, which is all but these; note; was, the status of what is edited, "" of what is new; and rest,
// the members of the document that have no field: a JSON object, "" for none.
type nameForm struct {
	texts
	isPrefix bool
	Targets  []texts // with the fields of a target, rest, and remove
}

// recordFields returns the fields of a record that a form has as they are. A sandbox is not one of them: it is decided
// when a prefix is registered, and stays as it is.
func recordFields() (all field.Fields[registry.Record]) {
	for _, f := range field.OfRecord() {
		if !f.ReadOnly && f.Type != field.Targets && f.Type != field.JSON && f.Name != "sandbox" {
			all = append(all, f)
		}
	}
	return all
}

// targetFields returns the fields of a target in the order of a form.
func targetFields() field.Fields[registry.Target] {
	return field.OfTarget().Ordered(
		"uri", "type", "language", "title", "rel", "priority", "from", "until", "context", "note")
}

// The fields of a form besides those of an entry.
const (
	inMetadata = "metadata"
	inNote     = "note"
	inWas      = "was"
	inRest     = "rest"
	inRemove   = "remove"
	inURI      = "uri"
)

// nameInputs returns the names of the fields of a form, but for those of its targets.
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
	// spareTargets is how many empty targets a form has, and how many more each time that others are asked for.
	spareTargets = 2
	// maxTargetForms bounds those of a form: some are empty.
	maxTargetForms = registry.MaxTargets + spareTargets
)

// targetField returns the name of a field of a target.
func targetField(i int, name string) string { return "t" + strconv.Itoa(i) + "-" + name }

// typed returns what a form has that was sent. Lines end as in JSON, whatever a browser has sent.
func typed(sent url.Values) *nameForm {
	f := &nameForm{texts: make(texts)}
	get := func(name string) string {
		return strings.ReplaceAll(strings.ReplaceAll(sent.Get(name), "\r\n", "\n"), "\r", "\n")
	}
	for _, name := range nameInputs() {
		f.texts[name] = strings.TrimSpace(get(name))
	}
	for _, part := range title.Parts() {
		if !part.Many {
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
			if name != inRest && name != inNote { // they have one line
				text = strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
			}
			t[name] = text
		}
		f.Targets = append(f.Targets, t)
	}
	return f
}

// hidden returns all that a form has, to be carried by another one.
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
	_ = json.Unmarshal(d["targets"], &raw) // n has it
	for i := range n.Targets {
		t := textsOf(targetFields(), &n.Targets[i])
		t[inRest] = restOf(raw[i], func(name string) bool { return targetFields().Find(name) != nil })
		f.Targets = append(f.Targets, t)
	}
	return f
}

// yes is the value of a box that is ticked.
const yes = "yes"

// textsOf returns what a form has of the fields of v.
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

// restOf returns the members of a document but for those that are known, as a JSON object, "" for none.
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

// timeFormat is that of fields of HTML for a time without a zone, which is here UTC.
const timeFormat = "2006-01-02T15:04:05.999"

// timeOf parses a time as browsers send it, and as people type it in one that has no field for times.
func timeOf(text string) (t time.Time, ok bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, end := range []string{"", "Z", ":00Z"} { // a field has neither a zone nor seconds that are 0
		if t, err := plaintext.ParseTime(text + end); err == nil {
			return t, true
		}
	}
	return t, false
}
