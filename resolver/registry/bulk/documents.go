package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// documents reads JSON objects: one after another, in a list, or in a list that is a member of another object, as APIs answer.
type documents struct {
	input   *boundedReader
	decoder *json.Decoder
	within  []string // the names of members that have lists of them
	open    []*opened
	number  int64 // of the last one
}

// opened is a list, or an object that may have one.
type opened struct {
	list    bool
	members map[string]json.RawMessage // of an object
	within  bool                       // it has a list
}

// maxWithin is how deep lists may be.
const maxWithin = 8

func newDocuments(r io.Reader, within ...string) *documents {
	d := &documents{input: &boundedReader{r: r}, within: within}
	d.decoder = json.NewDecoder(d.input)
	return d
}

// next returns the next object, which is valid JSON; io.EOF after the last one.
func (d *documents) next() (text json.RawMessage, err error) {
	for text == nil && err == nil {
		d.input.left = maxLine
		text, err = d.step()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("after %d entries of JSON: %w", d.number, err)
	}
	d.number++
	return text, err
}

// step reads a part.
func (d *documents) step() (json.RawMessage, error) {
	if len(d.open) == 0 {
		return nil, d.enter()
	}
	in := d.open[len(d.open)-1]
	switch {
	case !d.decoder.More():
		if _, err := d.decoder.Token(); err != nil {
			return nil, endless(err)
		}
		d.open = d.open[:len(d.open)-1]
		if in.list || in.within {
			return nil, nil
		}
		return json.Marshal(in.members)
	case in.list:
		var text json.RawMessage
		return text, endless(d.decoder.Decode(&text))
	}
	name, err := d.decoder.Token()
	if err != nil {
		return nil, endless(err)
	}
	if key, ok := name.(string); ok && !slices.Contains(d.within, key) {
		var text json.RawMessage
		err := d.decoder.Decode(&text)
		in.members[key] = text
		return nil, endless(err)
	}
	in.within = true
	return nil, endless(d.enter())
}

// enter begins a list or an object.
func (d *documents) enter() error {
	token, err := d.decoder.Token()
	if err != nil {
		return err
	}
	switch {
	case len(d.open) == maxWithin:
		return errors.New("its lists are too deep")
	case token == json.Delim('['), token == json.Delim('{'):
		d.open = append(d.open, &opened{list: token == json.Delim('['), members: make(map[string]json.RawMessage)})
		return nil
	case len(d.open) == 0:
		return errors.New("it is neither an object nor a list")
	default:
		return nil
	}
}

// endless is an end within an object or a list.
func endless(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// boundedReader reads at most left octets, so that one entry of the input cannot take all memory.
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
