package editor

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry"
)

// nameForm is what a form has of a name, as text. What a form has no field for is in Rest.
type nameForm struct {
	Status, Reason, Successors, Alias, Contact, Redirect string
	Pattern, Authoritative                               string // of prefixes
	Title, Tags, Metadata                                string // Metadata is all but the title and the tags
	Note                                                 string
	Was                                                  string // the status of what is edited, "" of what is new
	Rest                                                 string // the members of the document that have no field: a JSON object, "" for none
	Targets                                              []targetForm
}

// targetForm is what a form has of a target.
type targetForm struct {
	URI, Type, Language, Title, Rel, Priority, From, Until, Context, Note string
	Rest, Remove                                                          string
}

// field is a field of a form, and where its text is.
type field struct {
	name string
	text *string
}

func (f *nameForm) fields() []field {
	return []field{
		{"status", &f.Status},
		{"reason", &f.Reason},
		{"successors", &f.Successors},
		{"alias", &f.Alias},
		{"contact", &f.Contact},
		{"redirect", &f.Redirect},
		{"pattern", &f.Pattern},
		{"authoritative", &f.Authoritative},
		{"title", &f.Title},
		{"tags", &f.Tags},
		{"metadata", &f.Metadata},
		{"note", &f.Note},
		{"was", &f.Was},
		{"rest", &f.Rest},
	}
}

func (t *targetForm) fields() []field {
	return []field{
		{"uri", &t.URI},
		{"type", &t.Type},
		{"language", &t.Language},
		{"title", &t.Title},
		{"rel", &t.Rel},
		{"priority", &t.Priority},
		{"from", &t.From},
		{"until", &t.Until},
		{"context", &t.Context},
		{"note", &t.Note},
		{"rest", &t.Rest},
		{"remove", &t.Remove},
	}
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
	f := &nameForm{}
	get := func(into *string, name string) {
		*into = strings.ReplaceAll(strings.ReplaceAll(sent.Get(name), "\r\n", "\n"), "\r", "\n")
	}
	for _, field := range f.fields() {
		get(field.text, field.name)
	}
	for i := range maxTargetForms {
		if _, ok := sent[targetField(i, "uri")]; !ok {
			break
		}
		var t targetForm
		for _, field := range t.fields() {
			get(field.text, targetField(i, field.name))
			if field.name != "rest" && field.name != "note" { // they have one line
				*field.text = strings.TrimSpace(strings.ReplaceAll(*field.text, "\n", " "))
			}
		}
		f.Targets = append(f.Targets, t)
	}
	for _, field := range f.fields() {
		*field.text = strings.TrimSpace(*field.text)
	}
	f.Title = strings.ReplaceAll(f.Title, "\n", " ")
	return f
}

// hidden returns all that a form has, to be carried by another one.
func (f *nameForm) hidden() (all [][2]string) {
	add := func(name string, field field) {
		if *field.text != "" || field.name == "uri" {
			all = append(all, [2]string{name, *field.text})
		}
	}
	for _, field := range f.fields() {
		add(field.name, field)
	}
	for i := range f.Targets {
		for _, field := range f.Targets[i].fields() {
			add(targetField(i, field.name), field)
		}
	}
	return all
}

// formOf returns the form of a document.
func formOf(d document) *nameForm {
	n := d.name()
	f := &nameForm{
		Status: n.Status.String(), Was: n.Status.String(), Reason: n.Reason, Successors: strings.Join(n.Successors, "\n"), Alias: n.Alias, Contact: n.Contact,
		Pattern: n.Pattern, Rest: restOf(d, append(readOnly(), "status", "reason", "successors", "alias", "targets", "metadata", "contact", "redirect", "pattern",
			"authoritative")),
	}
	if n.Redirect != 0 {
		f.Redirect = strconv.Itoa(n.Redirect)
	}
	if n.Authoritative {
		f.Authoritative = yes
	}
	f.Title, f.Tags, f.Metadata = split(d["metadata"])
	var raw []document
	_ = json.Unmarshal(d["targets"], &raw) // n has it
	for i, t := range n.Targets {
		f.Targets = append(f.Targets, targetOf(t, raw[i]))
	}
	return f
}

// yes is the value of a box that is ticked.
const yes = "yes"

func targetOf(t api.NameTarget, raw document) targetForm {
	made := targetForm{
		URI: t.URI, Type: t.Type, Language: t.Language, Title: t.Title, Rel: t.Rel, From: textOfTime(t.From), Until: textOfTime(t.Until),
		Context: t.Context, Note: t.Note,
	}
	if t.Priority != 0 {
		made.Priority = strconv.Itoa(t.Priority)
	}
	known := []string{"uri", "type", "language", "title", "rel", "priority", "from", "until", "context", "note"}
	made.Rest = restOf(raw, known)
	return made
}

// restOf returns the members of a document but for some, as a JSON object, "" for none.
func restOf(d document, known []string) string {
	rest := make(document)
	for name, value := range d {
		if !slices.Contains(known, name) {
			rest[name] = value
		}
	}
	text, err := marshal(rest)
	if len(rest) == 0 || err != nil {
		return ""
	}
	return string(text)
}

// timeFormat is that of fields of HTML for a time without a zone, which is here UTC.
const timeFormat = "2006-01-02T15:04:05.999"

func textOfTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeFormat)
}

// timeOf parses a time as browsers send it, and as people type it in one that has no field for times.
func timeOf(text string) (t time.Time, ok bool) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return t, false
}
