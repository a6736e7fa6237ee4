package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNested bounds how deep JSON that people write is nested.
const maxNested = 1000

// UniqueMembers returns ErrInvalid where readers of a JSON text take different things from it: an object has two members of one name, of
// which they take one or the other (RFC 8259 section 4), or a string has bytes that are not UTF-8, or half of a surrogate pair, which they
// replace (sections 8.1 and 8.2). Of a text that is no JSON it returns nil.
func UniqueMembers(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		_, err := d.ReadToken()
		var syntax *jsontext.SyntacticError
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
			return fmt.Errorf("%w: the JSON has the member %q twice", ErrInvalid, syntax.JSONPointer.LastToken())
		case errors.As(err, &syntax) && json.Valid(text): // which takes strings that are not Unicode
			return fmt.Errorf("%w: the JSON has a string that is not Unicode, after byte %d: %w", ErrInvalid, syntax.ByteOffset, syntax.Err)
		case err != nil:
			return nil //nolint:nilerr // who decodes it says what is wrong, also at its end
		case d.StackDepth() > maxNested:
			return fmt.Errorf("%w: the JSON is nested too deep", ErrInvalid)
		}
	}
}
