package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// maxNested bounds how deep JSON that people write is nested.
const maxNested = 1000

// UniqueMembers returns ErrInvalid where an object of a JSON text has two members of one name: readers take one or the other of them
// (RFC 8259 section 4). Of a text that is no JSON it returns nil.
func UniqueMembers(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type object struct {
		names   map[string]bool // nil of an array
		isValue bool            // the next text is a value
	}
	var open []object
	for {
		token, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // who decodes it says what is wrong, also at its end
		}
		var in *object
		if len(open) > 0 {
			in = &open[len(open)-1]
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if name, ok := token.(string); ok && in != nil && in.names != nil && !in.isValue {
			if in.names[name] {
				return fmt.Errorf("%w: the JSON has the member %q twice", ErrInvalid, name)
			}
			in.names[name], in.isValue = true, true
			continue
		}
		if in != nil {
			in.isValue = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, object{names: make(map[string]bool)})
		case json.Delim('['):
			open = append(open, object{})
		}
		if len(open) > maxNested {
			return fmt.Errorf("%w: %w", ErrInvalid, errors.New("the JSON is nested too deep"))
		}
	}
}
