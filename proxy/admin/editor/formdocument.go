package editor

import (
	"encoding/json"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
)

// document returns the document of a form, of a subject that is now as current says, and what is wrong with its fields.
func (f *nameForm) document(s subject, current document) (made document, wrong faults) {
	made = make(document)
	if f.Rest != "" && (json.Unmarshal([]byte(f.Rest), &made) != nil || made == nil) { // null makes a map nil
		made = make(document)
		wrong.add("", "The form is damaged: what it has no fields for cannot be read. Open it again.")
	}
	for _, name := range readOnly() {
		delete(made, name)
	}
	set := func(name string, value any, is bool) {
		if text, err := marshal(value); is && err == nil {
			made[name] = text
		}
	}
	var status registry.Status
	if status.UnmarshalText([]byte(f.Status)) != nil {
		wrong.add("status", "%.40q is no status.", f.Status)
	}
	set("status", status, true)
	if status == registry.Withdrawn {
		set("reason", f.Reason, f.Reason != "")
		set("successors", lines(f.Successors), len(lines(f.Successors)) > 0)
	}
	set("alias", f.Alias, f.Alias != "")
	set("contact", f.Contact, f.Contact != "")
	set("note", f.Note, f.Note != "")
	if redirect, err := strconv.Atoi(f.Redirect); f.Redirect != "" && err != nil {
		wrong.add("redirect", "%.40q is no status of HTTP.", f.Redirect)
	} else {
		set("redirect", redirect, redirect != 0)
	}
	if s.IsPrefix {
		set("pattern", f.Pattern, f.Pattern != "")
		set("authoritative", true, f.Authoritative == yes)
	}
	metadata, err := join(f.Title, f.Tags, f.Metadata, current["metadata"])
	if err != nil {
		wrong.add("metadata", "%s", sentence(err.Error()))
	} else if metadata != nil {
		made["metadata"] = metadata
	}
	set("targets", f.targets(&wrong), true)
	return made, wrong
}

// targets returns the documents of the targets of a form, without those that are empty or removed.
func (f *nameForm) targets(wrong *faults) []document {
	all := []document{}
	for i := range f.Targets {
		t := &f.Targets[i]
		if t.Remove == yes || t.isEmpty() {
			continue
		}
		made := make(document)
		if t.Rest != "" && (json.Unmarshal([]byte(t.Rest), &made) != nil || made == nil) {
			made = make(document)
			wrong.add(targetField(i, "uri"), "The form is damaged: what it has no fields for cannot be read. Open it again.")
		}
		if t.URI == "" {
			wrong.add(targetField(i, "uri"), "A target needs a URI. Tick its box to remove it.")
		}
		for _, field := range t.fields() {
			if text := *field.text; text != "" && field.name != "rest" {
				if value, fault := valueOf(field.name, text); fault != "" {
					wrong.add(targetField(i, field.name), "%s", fault)
				} else {
					made[field.name] = value
				}
			}
		}
		all = append(all, made)
	}
	return all
}

// isEmpty reports whether nothing was typed.
func (t *targetForm) isEmpty() bool {
	for _, field := range t.fields() {
		if *field.text != "" {
			return false
		}
	}
	return true
}

// valueOf returns the member of a target that a field says, or what is wrong with the field.
func valueOf(name, text string) (value json.RawMessage, fault string) {
	switch name {
	case "priority":
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, "A priority is a number. The least is first."
		}
		return json.RawMessage(strconv.Itoa(n)), ""
	case "from", "until":
		t, ok := timeOf(text)
		if !ok {
			return nil, "A time is as 2031-05-01 or 2031-05-01T12:00, in UTC."
		}
		value, err := marshal(t)
		if err != nil {
			return nil, "A year has four digits."
		}
		return value, ""
	default:
		return quoted(text), ""
	}
}
