package field

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// AppendJSON appends the value as JSON, without escaping "<", ">" and "&", which encoding/json does by
// default. It fails for invalid JSON in a field of type JSON, and for a year without four digits.
func (f *Field[T]) AppendJSON(b []byte, v *T) ([]byte, error) {
	switch x := f.at(v).(type) {
	case *string:
		if f.Type == JSON {
			compact := bytes.NewBuffer(b)
			err := json.Compact(compact, []byte(cmp.Or(*x, "null")))
			return compact.Bytes(), err
		}
		return AppendString(b, *x), nil
	case *time.Time:
		b, err := x.AppendText(append(b, '"'))
		return append(b, '"'), err
	case *registry.Status:
		return AppendString(b, x.String()), nil
	case *[]registry.Target:
		b = append(b, '[')
		for i := range *x {
			t := &(*x)[i]
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = target.AppendMembers(append(b, '{'), t); err != nil {
				return b, err
			}
			b = append(b, '}')
		}
		return append(b, ']'), nil
	default:
		text, err := Marshal(x)
		return append(b, text...), err
	}
}

// AppendMembers appends the members of a JSON object that are not empty or required, separated by commas.
// Empty members whose type is in optional are omitted even if they are required.
func (fs Fields[T]) AppendMembers(b []byte, v *T, optional ...Type) ([]byte, error) {
	separator := ""
	for _, f := range fs {
		if f.Empty(v) && (!f.Required || slices.Contains(optional, f.Type)) {
			continue
		}
		var err error
		b = append(AppendString(append(b, separator...), f.Name), ':')
		if b, err = f.AppendJSON(b, v); err != nil {
			return b, fmt.Errorf("the %s%s: %w", f.Name, f.of, err)
		}
		separator = ","
	}
	return b, nil
}

// AppendString appends a string as JSON.
func AppendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := Marshal(text) // a string can always be marshalled
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

// SetJSON sets the value from JSON. The error is a *json.UnmarshalTypeError with the path of the member, or
// it names the field and wraps the reason.
func (f *Field[T]) SetJSON(v *T, value json.RawMessage) error {
	err := f.setJSON(v, value)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong) && f.Type == Targets: // the error names the field of the target
		return err
	case wrong != nil:
		in := *wrong
		in.Field = strings.TrimSuffix(f.Name+"."+in.Field, ".")
		return &in
	default:
		return fmt.Errorf("the %s%s: %w", f.Name, f.of, err)
	}
}

func (f *Field[T]) setJSON(v *T, value json.RawMessage) (err error) {
	switch x := f.at(v).(type) {
	case *string:
		if f.Type == JSON {
			*x, err = CompactJSON(string(value))
			return err
		}
		return json.Unmarshal(value, x)
	case *time.Time:
		err = json.Unmarshal(value, x)
		*x = stored(*x)
		return err
	case *[]registry.Target:
		var all []json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			return err
		}
		*x = nil
		for _, one := range all {
			var t registry.Target
			err = cmp.Or(err, target.SetMembers(&t, one))
			*x = append(*x, t)
		}
		return err
	default:
		return json.Unmarshal(value, x)
	}
}

// SetMembers sets the values from the members of a JSON object; null has no members. Like encoding/json it
// continues after an error, and returns the first one.
func (fs Fields[T]) SetMembers(v *T, object json.RawMessage) error {
	members, err := ParseMembers(object)
	for _, m := range members {
		ok, failed := fs.SetMember(v, m.Name, m.Value)
		if !ok {
			failed = fmt.Errorf("unknown field %q", m.Name)
		}
		err = cmp.Or(err, failed)
	}
	return err
}

// SetMember sets the value for a member; the result is false if there is no such field. Names are compared
// case-insensitively, like encoding/json.
func (fs Fields[T]) SetMember(v *T, name string, value json.RawMessage) (bool, error) {
	for i := range fs {
		if strings.EqualFold(fs[i].Name, name) {
			return true, fs[i].SetJSON(v, value)
		}
	}
	return false, nil
}

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// ParseMembers returns the members of a JSON object in order; null has none. For other JSON values it returns
// a *json.UnmarshalTypeError.
func ParseMembers(text json.RawMessage) (all []Member, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	token, _ := d.Token()
	if token != json.Delim('{') { // also after an error
		return nil, json.Unmarshal(text, new(map[string]json.RawMessage))
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := Member{}
		m.Name, _ = name.(string) // a token before a value in an object is a string
		if err := d.Decode(&m.Value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	if _, err = d.Token(); err == nil && d.More() {
		err = errors.New("data after the value")
	}
	return all, err
}

// FormatObject returns a JSON object with these members.
func FormatObject(members []Member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(AppendString(b, m.Name), ':'), m.Value...)
	}
	return append(b, '}')
}
