package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// objectParser returns a function that sets the fields of a line from a JSON object, a row of NDJSON. Members
// have the names of columns. Targets, successors and metadata may be arrays and objects.
func (m mapping) objectParser() func(l *line, row *tabular.Row) error {
	d := jsontext.NewDecoder(new(bytes.Buffer))
	return func(l *line, row *tabular.Row) error {
		d.Reset(bytes.NewBufferString(row.Text))
		return m.object(d, l)
	}
}

// object sets the fields of a line from its JSON object.
func (m mapping) object(d *jsontext.Decoder, l *line) error {
	if err := members(d, func(name string) error { return m.member(d, l, name) }); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: data after the object", errNotJSON)
	}
	return nil
}

// member sets the field of one member.
func (m mapping) member(d *jsontext.Decoder, l *line, name string) error {
	c, ok := m.of(name)
	if !ok || c.field == fieldMember { // members of metadata belong in an object of their own
		return refusal("line_member", "unknown member %q: map it to a known one, or to \"-\" to omit it",
			name).With("Column", name)
	}
	if c.field == fieldIgnored {
		if err := d.SkipValue(); err != nil {
			return notJSON(err)
		}
		return nil
	}
	if l.fields.has(c.field) && c.field < fieldURI {
		return duplicateMember(name)
	}
	switch kind := d.PeekKind(); {
	case c.field == fieldTargets && kind == '[':
		l.fields.add(fieldTargets)
		return elements(d, registry.MaxTargets, func() error { return l.addTarget(d) })
	case kind == '[' && c.ofType(field.List):
		l.fields.add(c.field)
		var texts []string
		err := elements(d, registry.MaxSuccessors, func() error {
			one, err := text(d)
			texts = append(texts, one)
			return err
		})
		field.RecordFields()[c.field-fieldRecord].SetList(&l.entry.Record, texts)
		return err
	case c.field == fieldMetadata && kind == '{':
		value, err := d.ReadValue()
		if err != nil {
			return notJSON(err)
		}
		return l.set(c, string(value))
	}
	cell, err := text(d)
	if err != nil {
		return fmt.Errorf("the member %q: %w", name, err)
	}
	return l.set(c, cell)
}

// ofType reports whether a column is a record field with this type.
func (c column) ofType(t field.Type) bool {
	return c.field >= fieldRecord && c.field < fieldChanged && field.RecordFields()[c.field-fieldRecord].Type == t
}

// addTarget adds a target: an object, or only its URI.
func (l *line) addTarget(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		uri, err := text(d)
		l.more = append(l.more, registry.Target{URI: uri})
		return err
	}
	var of line // collects the fields of the target
	err := members(d, func(name string) error {
		f := fieldNamed(name)
		if i := field.TargetFields().Index(name); i >= 0 {
			f = fieldURI + fieldID(i) //nolint:gosec // the table is short
		}
		if f < fieldURI || f == fieldsEnd {
			return fmt.Errorf("unknown member %q of a target", name)
		}
		cell, err := text(d)
		if err != nil {
			return fmt.Errorf("the member %q of a target: %w", name, err)
		}
		return of.setTarget(column{field: f}, cell)
	})
	if err == nil && (len(of.entry.Targets) == 0 || of.entry.Targets[0].URI == "") {
		err = errNoTarget
	}
	if err != nil {
		return err
	}
	l.more = append(l.more, of.entry.Targets[0])
	return nil
}

// maxMembers bounds the members of an object.
const maxMembers = 200

var errNotJSON = refusal("line_no_object", "not a JSON object")

// notJSON converts an error of the JSON decoder to one that users understand.
func notJSON(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return duplicateMember(syntax.JSONPointer.LastToken())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: incomplete", errNotJSON)
	case errors.As(err, &syntax):
		return fmt.Errorf("%w, after byte %d: %w", errNotJSON, syntax.ByteOffset, syntax.Err)
	default:
		return err
	}
}

// duplicateMember returns the error of a duplicate member.
func duplicateMember(name string) error {
	return (&registry.Error{Code: "json_member_twice", Reason: fmt.Errorf("duplicate member %q", name)}).With("Name",
		name)
}

// members reads an object, and calls f at the value of each member. f reads the value.
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
			return fmt.Errorf("more than %d members", maxMembers)
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// elements reads an array of at most the given number of elements, and calls f at each one. f reads the
// element.
func elements(d *jsontext.Decoder, most int, f func() error) error {
	if _, err := d.ReadToken(); err != nil {
		return notJSON(err)
	}
	for n := 0; d.PeekKind() != ']'; n++ {
		if n == most {
			return fmt.Errorf("more than %d elements", most)
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
		return "", fmt.Errorf("%.40s is not a string", value)
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
