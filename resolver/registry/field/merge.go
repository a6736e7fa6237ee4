package field

import (
	"bytes"
	"encoding/json"
)

// Document is a JSON object, by member name.
type Document map[string]json.RawMessage

// ThreeWayMerge is a three-way merge of documents of an entry: a member that mine changed from base is taken from
// mine, others from theirs. Changes are only lost if both sides changed the same member, for which mine wins.
// Fields with the rule PerMember are merged by their own members. Members that are not fields are merged too.
func ThreeWayMerge(base, mine, theirs Document) Document {
	return merged(base, mine, theirs, func(name string) Merge {
		if f := record.Find(name); f != nil {
			return f.Merge
		}
		return Atomic
	})
}

func merged(base, mine, theirs Document, rule func(name string) Merge) Document {
	made := make(Document)
	for _, from := range []Document{theirs, mine} {
		for name := range from {
			value, ok := mine[name]
			if SameJSON(mine[name], base[name]) {
				value, ok = theirs[name]
			} else if rule(name) == PerMember {
				value = mergedMembers(base[name], mine[name], theirs[name])
			}
			if ok {
				made[name] = value
			}
		}
	}
	return made
}

// mergedMembers merges the members of three objects. It returns mine if one of them is not an object.
func mergedMembers(base, mine, theirs json.RawMessage) json.RawMessage {
	var of [3]Document
	for i, raw := range []json.RawMessage{base, mine, theirs} {
		if len(raw) > 0 && json.Unmarshal(raw, &of[i]) != nil {
			return mine
		}
	}
	text, err := Marshal(merged(of[0], of[1], of[2], func(string) Merge { return Atomic }))
	if err != nil {
		return mine
	}
	return text
}

// SameJSON reports whether two values are equal, ignoring the order of members and white space.
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

// Marshal returns JSON without escaping "<", ">" and "&": escapes would change the text of metadata.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
