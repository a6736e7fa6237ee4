package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/resolver/registry"
)

// documents reads JSON objects: one after another, in a list, or in a list that is a member of another object, as APIs answer.
type documents struct {
	input   *boundedReader
	decoder *jsontext.Decoder
	within  []string // the names of members that have lists of them
	maps    []string // the names of members whose members they are
	open    []*opened
	number  int64 // of the last one
}

// opened is a list, or an object that may have one.
type opened struct {
	list    bool
	isMap   bool         // its members are what is read
	members bytes.Buffer // of an object, as they are
	n       int          // how many they are
	within  bool         // it has a list
}

// maxWithin is how deep lists may be.
const maxWithin = 8

func newDocuments(r io.Reader, within ...string) *documents {
	d := &documents{input: &boundedReader{r: r}, within: within}
	// An entry with such a name or text is rejected alone.
	d.decoder = jsontext.NewDecoder(d.input, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return d
}

// rejectedEntry is the error of an entry that cannot be read, although those after it can.
type rejectedEntry struct {
	number int64
	text   string
	fault  error
}

// Error implements error.
func (r *rejectedEntry) Error() string { return fmt.Sprintf("entry %d: %v", r.number, r.fault) }

// Unwrap returns why it cannot be read.
func (r *rejectedEntry) Unwrap() error { return r.fault }

// entry reads the next object into a value. It returns its text; or a rejected entry, where it is not of that type: what names it in the
// error.
func (d *documents) entry(what string, into any) (text json.RawMessage, bad *item, err error) {
	if text, err = d.next(); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, rejected(d.number, string(text), "it is no %s: %w", what, err), nil
	}
	return text, nil, nil
}

// next returns the next object, which is valid JSON; io.EOF after the last one, and *rejectedEntry for one that would not arrive as it is.
func (d *documents) next() (text json.RawMessage, err error) {
	for text == nil && err == nil {
		d.input.left = maxLine
		text, err = d.step()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("after %d entries of JSON: %w", d.number, err)
	}
	if err != nil {
		return nil, err
	}
	d.number++
	// encoding/json would replace bytes that are not UTF-8, and take the last one of two members.
	if fault := registry.UniqueMembers(text); fault != nil {
		return nil, &rejectedEntry{d.number, string(text), fault}
	}
	return text, nil
}

// step reads a part.
func (d *documents) step() (json.RawMessage, error) {
	if len(d.open) == 0 {
		return nil, d.enter()
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
	isMap := slices.Contains(d.maps, string(plain))
	if !in.isMap && (isMap || slices.Contains(d.within, string(plain))) {
		in.within = true
		depth := len(d.open)
		err := d.enter()
		if len(d.open) > depth {
			d.open[depth].isMap = isMap && !d.open[depth].list
		}
		return nil, endless(err)
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

// add adds a member of an object.
func (o *opened) add(name, value jsontext.Value) error {
	if o.n++; o.n > maxMembers {
		return fmt.Errorf("an object has more than %d members", maxMembers)
	}
	if o.members.Len()+len(name)+len(value) > maxLine {
		return errLong
	}
	o.members.WriteByte("{,"[min(o.members.Len(), 1)])
	o.members.Write(name)
	o.members.WriteByte(':')
	o.members.Write(value)
	return nil
}

// enter begins a list or an object.
func (d *documents) enter() error {
	kind := d.decoder.PeekKind()
	if kind != '[' && kind != '{' && len(d.open) > 0 {
		return d.decoder.SkipValue()
	}
	if _, err := d.decoder.ReadToken(); err != nil {
		return err
	}
	switch {
	case kind != '[' && kind != '{':
		return errors.New("it is neither an object nor a list")
	case len(d.open) == maxWithin:
		return errors.New("its lists are too deep")
	}
	d.open = append(d.open, &opened{list: kind == '['})
	return nil
}

// endless is an end within an object or a list.
func endless(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// boundedReader reads at most left bytes, so that one entry of the input cannot take all memory.
type boundedReader struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
