package admin

import (
	"bytes"
	"encoding/json"
)

// mergePatch applies a patch to a document: RFC 7396 section 2. Both are JSON.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	changes, ok := members(patch)
	if !ok {
		return patch, nil
	}
	object, ok := members(target)
	if !ok {
		object = make(map[string]json.RawMessage)
	}
	for name, value := range changes {
		if string(bytes.TrimSpace(value)) == "null" {
			delete(object, name)
			continue
		}
		merged, err := mergePatch(object[name], value)
		if err != nil {
			return nil, err
		}
		object[name] = merged
	}
	return json.Marshal(object)
}

// members returns the members of a JSON object; false where it is none.
func members(text json.RawMessage) (map[string]json.RawMessage, bool) {
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(text, &object)
	return object, err == nil
}
