package registry

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNested bounds how deep JSON that people write is nested.
const maxNested = 1000

// UniqueMembers returns ErrInvalid where an object of a JSON text has two members of one name: readers take one or the other of them
// (RFC 8259 section 4). Of a text that is no JSON it returns nil.
func UniqueMembers(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true))
	for {
		_, err := d.ReadToken()
		var syntax *jsontext.SyntacticError
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
			return fmt.Errorf("%w: the JSON has the member %q twice", ErrInvalid, syntax.JSONPointer.LastToken())
		case err != nil:
			return nil //nolint:nilerr // who decodes it says what is wrong, also at its end
		case d.StackDepth() > maxNested:
			return fmt.Errorf("%w: the JSON is nested too deep", ErrInvalid)
		}
	}
}
