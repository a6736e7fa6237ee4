package editor

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/urnd/urnd/internal/api"
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
