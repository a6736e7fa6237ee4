package editor

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/urnd/urnd/internal/api"
)

// document is a version of a name as the API has it. Its members are as they were sent, so that those which no form has are kept.
type document map[string]json.RawMessage

// readOnly are the members that the registry sets, and name and prefix, which an address says.
func readOnly() []string {
	return []string{"name", "prefix", "since", "version", "seq", "changed", "by", "redacted", "warning", "note"}
}

// name returns what a document says. What it does not say so is left out.
func (d document) name() (n api.Name) {
	for key, value := range d { // one by one: a member that is not of its type does not take others with it
		one, err := json.Marshal(map[string]json.RawMessage{key: value})
		if err == nil {
			_ = json.Unmarshal(one, &n)
		}
	}
	if raw := d["metadata"]; len(raw) > 0 {
		n.Metadata = raw // as it is, and not as it is marshaled
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
	text, err := marshal(body)
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

// marshal returns JSON in which "<" and "&" are not escaped: in metadata that would be another text.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// isSame reports whether two members are equal as JSON, whatever the order of members and the white space in them.
func isSame(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

func canonical(raw json.RawMessage) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) == 0 || d.Decode(&v) != nil {
		return raw
	}
	text, _ := json.Marshal(v)
	return text
}

// merged returns a document that has of each member what was changed from base in mine, and else what is in theirs: nobody's change is
// lost but where both have changed the same member, which is then as in mine.
func merged(base, mine, theirs document) document {
	made := make(document)
	for _, from := range []document{theirs, mine} {
		for name := range from {
			if slices.Contains(readOnly(), name) {
				continue
			}
			value, is := mine[name]
			if isSame(mine[name], base[name]) {
				value, is = theirs[name]
			} else if name == "metadata" {
				value = mergedObject(base[name], mine[name], theirs[name])
			}
			if is {
				made[name] = value
			}
		}
	}
	if note, ok := mine["note"]; ok {
		made["note"] = note
	}
	return made
}

// mergedObject merges the members of three objects.
func mergedObject(base, mine, theirs json.RawMessage) json.RawMessage {
	var of [3]map[string]json.RawMessage
	for i, raw := range []json.RawMessage{base, mine, theirs} {
		if len(raw) > 0 && json.Unmarshal(raw, &of[i]) != nil {
			return mine
		}
	}
	made := make(map[string]json.RawMessage)
	for _, from := range []map[string]json.RawMessage{of[2], of[1]} {
		for name := range from {
			value, is := of[1][name]
			if isSame(of[1][name], of[0][name]) {
				value, is = of[2][name]
			}
			if is {
				made[name] = value
			}
		}
	}
	text, err := marshal(made)
	if err != nil {
		return mine
	}
	return text
}
