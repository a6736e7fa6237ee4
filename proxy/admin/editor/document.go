package editor

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

// document is what a form says of a name. Its members are as they were sent, so that those which no form has are kept.
type document field.Document

// documentOf returns the document of an entry, which has no members of its key and version; an empty one where there is no such entry.
func documentOf(e registry.Entry) document {
	d := make(document)
	if !e.Exists() {
		return d
	}
	for _, f := range field.OfRecord() {
		if f.Empty(&e.Record) && !f.Required {
			continue
		}
		if value, err := f.AppendJSON(nil, &e.Record); err == nil { // what is registered can be written
			d[f.Name] = value
		}
	}
	return d
}

// readOnly reports whether the registry sets a member, or an address says it: name and prefix.
func readOnly(name string) bool {
	if f := field.OfRecord().Find(name); f != nil {
		return f.ReadOnly
	}
	return slices.Contains(api.NameMembers(), name)
}

// editable returns the members that people edit.
func (d document) editable() field.Document {
	members := maps.Clone(field.Document(d))
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return readOnly(name) })
	return members
}

// name returns what a document says. What it does not say so is left out.
func (d document) name() (n api.Name) {
	for key, value := range d { // one by one: a member that is not of its type does not take others with it
		one, err := json.Marshal(map[string]json.RawMessage{key: value})
		if err == nil {
			_ = json.Unmarshal(one, &n)
		}
	}
	return n
}

// entry returns a version of a name, the current one where it is 0.
func (e *Editor) entry(p *Request, s subject, version int) (registry.Entry, error) {
	return e.Service.Get(p.Context(), p.Actor, s.key(), service.Version{Number: version})
}

// put makes a document the next version, if the current one is still the one with this number, which is 0 where there is none. A dry run only
// says what would be.
func (e *Editor) put(p *Request, s subject, d document, version int, isDry bool) (after registry.Entry, err error) {
	text, err := field.Marshal(d)
	if err != nil {
		return after, err
	}
	n, err := api.ReadName(text)
	if err != nil {
		return after, err
	}
	_, activate := d["status"]
	changed, err := e.Service.Change(p.Context(), p.Actor, isDry, registry.Edit{
		Key: s.key(), IfVersion: version, Note: n.Note, Activate: activate, Change: registry.Put(n.Record),
	})
	if err != nil {
		return after, err
	}
	return changed[0].After, nil
}

// merged returns a document that has of each member what was changed from base in mine, and else what is in theirs, with the note of mine.
func merged(base, mine, theirs document) document {
	made := document(field.Merged(base.editable(), mine.editable(), theirs.editable()))
	if note, ok := mine["note"]; ok {
		made["note"] = note
	}
	return made
}

// document returns the document of a form, of a subject that is now as current says, and what is wrong with its fields.
func (f *nameForm) document(in pages.Writer, s subject, current document) (made document, wrong faults) {
	made = f.rest(in, "", &wrong)
	for name := range made {
		if readOnly(name) {
			delete(made, name)
		}
	}
	for _, of := range recordFields() {
		withdrawn := f.texts["status"] == registry.Withdrawn.String()
		if of.OfWithdrawn && !withdrawn || of.Kinds == field.Prefixes && !s.IsPrefix {
			continue
		}
		setMember(in, made, of, f.texts[of.Name], of.Name, &wrong)
	}
	if note := f.texts[inNote]; note != "" {
		made[inNote] = quoted(note)
	}
	if metadata := join(in, f.texts, current["metadata"], &wrong); metadata != nil {
		made["metadata"] = metadata
	}
	if targets, err := field.Marshal(f.targets(in, &wrong)); err == nil {
		made["targets"] = targets
	}
	return made, wrong
}

// rest returns the members that a form has no fields for. What is wrong with them is said at a field of the form.
func (t texts) rest(in pages.Writer, at string, wrong *faults) document {
	made := make(document)
	if t[inRest] != "" && (json.Unmarshal([]byte(t[inRest]), &made) != nil || made == nil) { // null makes a map nil
		made = make(document)
		wrong.add(at, in.T("fault.damaged"))
	}
	return made
}

// setMember sets the member of a document that the text of a field says, or adds what is wrong with the field of the
// form.
func setMember[T any](in pages.Writer, made document, f *field.Field[T], text, at string, wrong *faults) {
	if text == "" && f.Type != field.Status {
		return
	}
	switch value, fault := valueOf(in, f, text); {
	case fault != "":
		wrong.add(at, fault)
	case value != nil:
		made[f.Name] = value
	}
}

// targetAt returns which target of the form is the one with a number in its document.
func (f *nameForm) targetAt(number int) int {
	for i, t := range f.Targets {
		if t[inRemove] == yes || t.empty() {
			continue
		}
		if number--; number == 0 {
			return i
		}
	}
	return 0
}

// targets returns the documents of the targets of a form, without those that are empty or removed.
func (f *nameForm) targets(in pages.Writer, wrong *faults) []document {
	all := []document{}
	for i, t := range f.Targets {
		if t[inRemove] == yes || t.empty() {
			continue
		}
		made := t.rest(in, targetField(i, inURI), wrong)
		switch {
		case t[inURI] == "":
			wrong.add(targetField(i, inURI), in.T("fault.no_uri"))
		case meantTarget(t[inURI], f.isPrefix) != "":
			wrong.add(targetField(i, inURI), in.T("fault.target_meant", "URI", pages.Bdi(meantTarget(t[inURI], f.isPrefix))))
		}
		for _, of := range targetFields() {
			setMember(in, made, of, t[of.Name], targetField(i, of.Name), wrong)
		}
		all = append(all, made)
	}
	return all
}

// empty reports whether nothing was typed.
func (t texts) empty() bool {
	for _, text := range t {
		if text != "" {
			return false
		}
	}
	return true
}

// valueOf returns the member that the text of a field says, nil for none, or what is wrong with the text.
func valueOf[T any](in pages.Writer, f *field.Field[T], text string) (value json.RawMessage, fault pages.Content) {
	switch f.Type {
	case field.Status:
		var status registry.Status
		if status.UnmarshalText([]byte(text)) != nil {
			fault = in.T("fault.status", "Text", pages.Bdi(cut(text)))
		}
		return quoted(status.String()), fault
	case field.Number:
		n, err := strconv.Atoi(text)
		switch {
		case err == nil && n == 0:
			return nil, ""
		case err == nil:
			return json.RawMessage(strconv.Itoa(n)), ""
		case f.Name == "redirect":
			return nil, in.Says("redirect_status")
		case f.Name == "priority":
			return nil, in.T("fault.priority")
		}
		return nil, in.T("fault.number", "Text", pages.Bdi(cut(text)))
	case field.Time:
		t, ok := timeOf(text)
		if !ok {
			return nil, in.T("fault.time")
		}
		value, err := field.Marshal(t)
		if err != nil {
			return nil, in.T("fault.year")
		}
		return value, ""
	case field.Bool:
		return json.RawMessage(strconv.FormatBool(text == yes)), ""
	case field.List:
		value, _ = field.Marshal(lines(text)) // texts always are JSON
		return value, ""
	case field.Text, field.Word, field.URI, field.JSON, field.Targets:
	}
	return quoted(text), ""
}
