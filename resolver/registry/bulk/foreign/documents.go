package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver/registry"
)

// documents reads JSON objects: concatenated, in an array, or in an array that is a member of another object,
// as in responses of APIs.
type documents struct {
	in      *Input
	input   *boundedReader
	decoder *jsontext.Decoder
	within  []string // names of members whose arrays contain the objects
	maps    []string // names of members whose own members are the objects; "" is the document itself
	open    []*opened
	name    string // member name of the last object, if it is a member
	number  int64  // one-based number of the last object
}

// opened is an array, or an object that may contain one, that has been entered.
type opened struct {
	list    bool
	isMap   bool         // its members are the objects to read
	members bytes.Buffer // raw members of an object
	n       int          // number of members
	within  bool         // it contains a nested array or map
}

// maxWithin bounds the nesting of arrays and objects.
const maxWithin = 8

// newDocuments returns a reader of the JSON in r, with arrays within members of these names.
func newDocuments(in *Input, r io.Reader, within ...string) *documents {
	d := &documents{in: in, input: &boundedReader{r: r}, within: within}
	// Errors of one name or text reject one entry only, see next.
	d.decoder = jsontext.NewDecoder(d.input, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return d
}

// next returns the next object; io.EOF after the last one.
func (d *documents) next() (*record, error) {
	var text json.RawMessage
	var err error
	for text == nil && err == nil {
		d.input.left = maxEntry
		text, err = d.step()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("after %d entries of JSON: %w", d.number, err)
	}
	if err != nil {
		return nil, err
	}
	d.number++
	// encoding/json would replace invalid UTF-8, and take the last of duplicate members.
	if err := registry.UniqueMembers(text); err != nil {
		return &record{line: d.number, text: string(text), bad: cmp.Or(d.in.Check(string(text)), err)}, nil
	}
	r := newRecord(text)
	r.line, r.name = d.number, d.name
	return r, nil
}

// step reads one token or value. It returns an object once one is complete.
func (d *documents) step() (json.RawMessage, error) {
	if len(d.open) == 0 {
		return nil, d.enter("")
	}
	in := d.open[len(d.open)-1]
	switch kind := d.decoder.PeekKind(); {
	case kind == ']' || kind == '}':
		if _, err := d.decoder.ReadToken(); err != nil {
			return nil, endless(err)
		}
		d.open = d.open[:len(d.open)-1]
		if in.list || in.isMap || in.within {
			return nil, nil
		}
		if in.n == 0 {
			return json.RawMessage("{}"), nil
		}
		in.members.WriteByte('}')
		return in.members.Bytes(), nil
	case in.list:
		text, err := d.decoder.ReadValue()
		return bytes.Clone(text), endless(err)
	}
	return d.member(in)
}

// member reads a member of an object.
func (d *documents) member(in *opened) (json.RawMessage, error) {
	name, err := d.decoder.ReadValue()
	if err != nil {
		return nil, endless(err)
	}
	name = bytes.Clone(name)
	plain, _ := jsontext.AppendUnquote(nil, name)
	if d.name = string(plain); !in.isMap && (slices.Contains(d.maps, d.name) || slices.Contains(d.within, d.name)) {
		in.within = true
		return nil, endless(d.enter(d.name))
	}
	value, err := d.decoder.ReadValue()
	switch {
	case err != nil:
		return nil, endless(err)
	case in.isMap:
		return bytes.Clone(value), nil
	default:
		return nil, in.add(name, value)
	}
}

// add appends a member to an object.
func (o *opened) add(name, value jsontext.Value) error {
	if o.n++; o.n > maxMembers {
		return fmt.Errorf("an object has more than %d members", maxMembers)
	}
	if o.members.Len()+len(name)+len(value) > maxEntry {
		return errLong
	}
	o.members.WriteByte("{,"[min(o.members.Len(), 1)])
	o.members.Write(name)
	o.members.WriteByte(':')
	o.members.Write(value)
	return nil
}

// enter opens an array or an object, the value of the member with this name.
func (d *documents) enter(name string) error {
	kind := d.decoder.PeekKind()
	if kind != '[' && kind != '{' && len(d.open) > 0 {
		return d.decoder.SkipValue()
	}
	if _, err := d.decoder.ReadToken(); err != nil {
		return err
	}
	switch {
	case kind != '[' && kind != '{':
		return errors.New("neither an object nor a list")
	case len(d.open) == maxWithin:
		return errors.New("lists nested too deep")
	}
	d.open = append(d.open, &opened{list: kind == '[', isMap: kind == '{' && slices.Contains(d.maps, name)})
	return nil
}

// endless converts io.EOF within an object or an array to io.ErrUnexpectedEOF.
func endless(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
