package bulk

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxMembers bounds the members of an object.
const maxMembers = 200

var errNotJSON = errors.New("it is not a JSON object")

// notJSON returns an error of d in words for people.
func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return fmt.Errorf("it has the member %q twice", syntax.JSONPointer.LastToken())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is not complete", errNotJSON)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w, after byte %d: %w", errNotJSON, syntax.ByteOffset, syntax.Err)
	default:
		return err
	}
}

// members calls f at the value of each member of the object that d comes to. f reads the value.
func members(d *jsontext.Decoder, f func(name string) error) error {
	switch start, err := d.ReadToken(); {
	case err != nil:
		return notJSON(err)
	case start.Kind() != '{':
		return errNotJSON
	}
	for n := 0; d.PeekKind() != '}'; n++ {
		name, err := d.ReadToken()
		if err != nil {
			return notJSON(err)
		}
		if n == maxMembers {
			return fmt.Errorf("it has more than %d members", maxMembers)
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// elements calls f at each element of the array that d comes to, of which there are at most so many. f reads the element.
func elements(d *jsontext.Decoder, most int, f func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return notJSON(err)
	}
	for n := 0; d.PeekKind() != ']'; n++ {
		if n == most {
			return fmt.Errorf("it has more than %d elements", most)
		}
		if err := f(); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// text reads a JSON value other than an array or object as text; null is "".
func text(d *jsontext.Decoder) (string, error) {
	switch d.PeekKind() {
	case '{', '[':
		value, err := d.ReadValue()
		if err != nil {
			return "", notJSON(err)
		}
		return "", fmt.Errorf("%.40s is to be a text", value)
	}
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return "", notJSON(err)
	case token.Kind() == 'n':
		return "", nil
	default:
		return token.String(), nil
	}
}
