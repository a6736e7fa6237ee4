package editor

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/resolver/registry/field"
)

// document is a version of a name as the API has it. Its members are as they were sent, so that those which no form has are kept.
type document field.Document

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

func (d document) version() int {
	var n int
	_ = json.Unmarshal(d["version"], &n)
	return n
}

// document asks the API for a version of a name, the current one where it is 0.
func (e *Editor) document(p *Request, s subject, version int) (d document, err error) {
	q := s.query()
	if version > 0 {
		q.Set("version", strconv.Itoa(version))
	}
	return d, e.get(p, s.api(), q, &d)
}

// put asks the API to make a document the next version, if the current one is still the one with this number, which is 0 where there is
// none. A dry run only says what would be.
func (e *Editor) put(p *Request, s subject, d document, version int, isDry bool) (after document, err error) {
	return e.change(p, http.MethodPut, s.api(), s.query(), version, isDry, d)
}

// change sends a change of a name to the API.
func (e *Editor) change(p *Request, method, path string, q url.Values, version int, isDry bool, body any) (after document, err error) {
	text, err := field.Marshal(body)
	if err != nil {
		return nil, err
	}
	condition := http.Header{"If-Match": {`"` + strconv.Itoa(version) + `"`}}
	if version == 0 {
		condition = http.Header{"If-None-Match": {"*"}}
	}
	if isDry {
		q = url.Values{"uri": q["uri"], "dry_run": {"true"}}
	}
	reply, err := e.ask(p, method, path, q, condition, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return after, read(reply, &after)
}

// merged returns a document that has of each member what was changed from base in mine, and else what is in theirs, with the note of mine.
func merged(base, mine, theirs document) document {
	made := document(field.Merged(base.editable(), mine.editable(), theirs.editable()))
	if note, ok := mine["note"]; ok {
		made["note"] = note
	}
	return made
}
