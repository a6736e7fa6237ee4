package editor

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

// document is the JSON document of a form. Its members are raw JSON, so that those without a form field are
// preserved.
type document field.Document

// documentOf returns the document of an entry, without its key and version; it is empty if the entry does not
// exist.
func documentOf(e registry.Entry) document {
	d := make(document)
	if !e.Exists() {
		return d
	}
	for _, f := range field.RecordFields() {
		if f.Empty(&e.Record) && !f.Required {
			continue
		}
		if value, err := f.AppendJSON(nil, &e.Record); err == nil { // registered values can be encoded
			d[f.Name] = value
		}
	}
	return d
}

// readOnly reports whether a member cannot be edited: the registry sets it, or it is part of the key (name
// and prefix).
func readOnly(name string) bool {
	if f := field.RecordFields().Find(name); f != nil {
		return f.ReadOnly
	}
	return slices.Contains(api.NameMembers(), name)
}

// editable returns the members that can be edited.
func (d document) editable() field.Document {
	members := maps.Clone(field.Document(d))
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return readOnly(name) })
	return members
}

// name decodes a document. Members of a wrong type are omitted.
func (d document) name() (n api.Name) {
	for key, value := range d { // each by itself: a member of a wrong type does not affect the others
		one, err := json.Marshal(map[string]json.RawMessage{key: value})
		if err == nil {
			_ = json.Unmarshal(one, &n)
		}
	}
	return n
}

// entry returns a version of a name; 0 is the current one.
func (e *Editor) entry(p *Request, s subject, version int) (registry.Entry, error) {
	return e.Service.Get(p.Context(), p.Actor, s.key(), service.Version{Number: version})
}

// put stores a document as the next version if version is still the current one; 0 is a name that does not
// exist. A dry run only returns the result.
func (e *Editor) put(p *Request, s subject, d document, version int, dry bool) (after registry.Entry, err error) {
	text, err := field.Marshal(d)
	if err != nil {
		return after, err
	}
	n, err := api.ReadName(text)
	if err != nil {
		return after, err
	}
	_, activate := d["status"]
	changed, err := e.Service.Change(p.Context(), p.Actor, dry, registry.Edit{
		Key: s.key(), IfVersion: version, Note: n.Note, Activate: activate, Change: registry.Put(n.Record),
	})
	if err != nil {
		return after, err
	}
	return changed[0].After, nil
}

// merged returns the three-way merge of documents: members that mine changed from base, else those of theirs,
// with the note of mine.
func merged(base, mine, theirs document) document {
	made := document(field.ThreeWayMerge(base.editable(), mine.editable(), theirs.editable()))
	if note, ok := mine["note"]; ok {
		made["note"] = note
	}
	return made
}

// document returns the document of a form and the errors of its fields. current is the current document of
// the subject.
func (f *nameForm) document(in pages.Writer, s subject, current document) (made document, wrong failures) {
	made = f.rest(in, "", &wrong)
	for name := range made {
		if readOnly(name) {
			delete(made, name)
		}
	}
	for _, of := range recordFields() {
		withdrawn := f.texts["status"] == registry.Withdrawn.String()
		if of.WithdrawnOnly && !withdrawn || of.Kinds == field.Prefixes && !s.IsPrefix {
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

// rest returns the members without form fields. Their errors are reported at the field named at.
func (t texts) rest(in pages.Writer, at string, wrong *failures) document {
	made := make(document)
	if t[inRest] != "" && (json.Unmarshal([]byte(t[inRest]), &made) != nil || made == nil) { // null makes a map nil
		made = make(document)
		wrong.add(at, in.T("invalid.damaged"))
	}
	return made
}

// setMember sets the member for the text of a form field, or adds an error of the field.
func setMember[T any](in pages.Writer, made document, f *field.Field[T], text, at string, wrong *failures) {
	if text == "" && f.Type != field.Status {
		return
	}
	switch value, failure := valueOf(in, f, text); {
	case failure != "":
		wrong.add(at, failure)
	case value != nil:
		made[f.Name] = value
	}
}

// targetAt returns the index in the form of the target with a number in the document, which omits empty and
// removed targets.
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

// targets returns the documents of the targets of a form, without empty and removed ones.
func (f *nameForm) targets(in pages.Writer, wrong *failures) []document {
	all := []document{}
	for i, t := range f.Targets {
		if t[inRemove] == yes || t.empty() {
			continue
		}
		made := t.rest(in, targetField(i, inURI), wrong)
		switch {
		case t[inURI] == "":
			wrong.add(targetField(i, inURI), in.T("invalid.no_uri"))
		case suggestedTarget(t[inURI], f.isPrefix) != "":
			wrong.add(targetField(i, inURI),
				in.T("invalid.target_meant", "URI", pages.Bdi(suggestedTarget(t[inURI], f.isPrefix))))
		}
		for _, of := range targetFields() {
			setMember(in, made, of, t[of.Name], targetField(i, of.Name), wrong)
		}
		all = append(all, made)
	}
	return all
}

// empty reports whether all fields are empty.
func (t texts) empty() bool {
	for _, text := range t {
		if text != "" {
			return false
		}
	}
	return true
}

// valueOf returns the JSON value for the text of a field, nil for none, or the error of the text.
func valueOf[T any](in pages.Writer, f *field.Field[T], text string) (value json.RawMessage, failure pages.Content) {
	switch f.Type {
	case field.Status:
		var status registry.Status
		if status.UnmarshalText([]byte(text)) != nil {
			failure = in.T("invalid.status", "Text", pages.Bdi(cut(text)))
		}
		return quoted(status.String()), failure
	case field.Number:
		n, err := strconv.Atoi(text)
		switch {
		case err == nil && n == 0:
			return nil, ""
		case err == nil:
			return json.RawMessage(strconv.Itoa(n)), ""
		case f.Name == "redirect":
			return nil, in.Message("redirect_status")
		case f.Name == "priority":
			return nil, in.T("invalid.priority")
		}
		return nil, in.T("invalid.number", "Text", pages.Bdi(cut(text)))
	case field.Time:
		return timeValue(in, f.EndOfDay, text)
	case field.Bool:
		return json.RawMessage(strconv.FormatBool(text == yes)), ""
	case field.List:
		value, _ = field.Marshal(lines(text)) // strings can always be encoded
		return value, ""
	case field.Text, field.Word, field.URI, field.JSON, field.Targets:
	}
	return quoted(text), ""
}

// timeValue returns the member for a time. A date means its end if isEnd.
func timeValue(in pages.Writer, isEnd bool, text string) (value json.RawMessage, failure pages.Content) {
	t, ok := timeOf(text)
	if !ok {
		return nil, in.T("invalid.time")
	}
	if isEnd && len(strings.TrimSpace(text)) == len(time.DateOnly) {
		t = field.EndOfDay(t)
	}
	value, err := field.Marshal(t)
	if err != nil {
		return nil, in.T("invalid.year")
	}
	return value, ""
}
