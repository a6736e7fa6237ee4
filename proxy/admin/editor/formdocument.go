package editor

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// document returns the document of a form, of a subject that is now as current says, and what is wrong with its fields.
func (f *nameForm) document(s subject, current document) (made document, wrong faults) {
	made = f.rest("", &wrong)
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
		setMember(made, of, f.texts[of.Name], of.Name, &wrong)
	}
	if note := f.texts[inNote]; note != "" {
		made[inNote] = quoted(note)
	}
	metadata, err := join(f.texts[inTitle], f.texts[inTags], f.texts[inMetadata], current["metadata"])
	if err != nil {
		wrong.add(inMetadata, "%s", sentence(err.Error()))
	} else if metadata != nil {
		made["metadata"] = metadata
	}
	if targets, err := field.Marshal(f.targets(&wrong)); err == nil {
		made["targets"] = targets
	}
	return made, wrong
}

// rest returns the members that a form has no fields for. What is wrong with them is said at a field of the form.
func (t texts) rest(at string, wrong *faults) document {
	made := make(document)
	if t[inRest] != "" && (json.Unmarshal([]byte(t[inRest]), &made) != nil || made == nil) { // null makes a map nil
		made = make(document)
		wrong.add(at, "The form is damaged: what it has no fields for cannot be read. Open it again.")
	}
	return made
}

// setMember sets the member of a document that the text of a field says, or adds what is wrong with the field of the
// form.
func setMember[T any](made document, f *field.Field[T], text, at string, wrong *faults) {
	if text == "" && f.Type != field.Status {
		return
	}
	switch value, fault := valueOf(f, text); {
	case fault != "":
		wrong.add(at, "%s", fault)
	case value != nil:
		made[f.Name] = value
	}
}

// targets returns the documents of the targets of a form, without those that are empty or removed.
func (f *nameForm) targets(wrong *faults) []document {
	all := []document{}
	for i, t := range f.Targets {
		if t[inRemove] == yes || t.empty() {
			continue
		}
		made := t.rest(targetField(i, inURI), wrong)
		if t[inURI] == "" {
			wrong.add(targetField(i, inURI), "A target needs a URI. Tick its box to remove it.")
		}
		for _, of := range targetFields() {
			setMember(made, of, t[of.Name], targetField(i, of.Name), wrong)
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
func valueOf[T any](f *field.Field[T], text string) (value json.RawMessage, fault string) {
	switch f.Type {
	case field.Status:
		var status registry.Status
		if status.UnmarshalText([]byte(text)) != nil {
			fault = fmt.Sprintf("%.40q is no status.", text)
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
			return nil, fmt.Sprintf("%.40q is no status of HTTP.", text)
		case f.Name == "priority":
			return nil, "A priority is a number. The least is first."
		}
		return nil, fmt.Sprintf("%.40q is no number.", text)
	case field.Time:
		t, ok := timeOf(text)
		if !ok {
			return nil, "A time is as 2031-05-01 or 2031-05-01T12:00, in UTC."
		}
		value, err := field.Marshal(t)
		if err != nil {
			return nil, "A year has four digits."
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
