package field

import (
	"bytes"
	"encoding/json"
)

// Document is a JSON object by its members.
type Document map[string]json.RawMessage

// Merged returns a document of an entry that has of each member what was changed from base in mine, and else what is in
// theirs: no change is lost but where both have changed the same member, which is then as in mine. Fields with the rule
// Members are merged by their members. Members that are no field are kept, too.
func Merged(base, mine, theirs Document) Document {
	return merged(base, mine, theirs, func(name string) Merge {
		if f := record.Find(name); f != nil {
			return f.Merge
		}
		return Whole
	})
}

func merged(base, mine, theirs Document, rule func(name string) Merge) Document {
	made := make(Document)
	for _, from := range []Document{theirs, mine} {
		for name := range from {
			value, ok := mine[name]
			if SameJSON(mine[name], base[name]) {
				value, ok = theirs[name]
			} else if rule(name) == Members {
				value = mergedMembers(base[name], mine[name], theirs[name])
			}
			if ok {
				made[name] = value
			}
		}
	}
	return made
}

// mergedMembers merges the members of three objects; it returns mine where one is none.
func mergedMembers(base, mine, theirs json.RawMessage) json.RawMessage {
	var of [3]Document
	for i, raw := range []json.RawMessage{base, mine, theirs} {
		if len(raw) > 0 && json.Unmarshal(raw, &of[i]) != nil {
			return mine
		}
	}
	text, err := Marshal(merged(of[0], of[1], of[2], func(string) Merge { return Whole }))
	if err != nil {
		return mine
	}
	return text
}

// SameJSON reports whether two values are equal, whatever the order of members and the white space in them.
func SameJSON(a, b json.RawMessage) bool {
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

// Marshal returns JSON in which "<" and "&" are not escaped: in metadata that would be another text.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
