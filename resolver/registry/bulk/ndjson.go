package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// ndjson reads a JSON object a line. Members are what columns are, and targets, successors and metadata
// have their structure.
type ndjson struct {
	from    *textLines
	source  *charset.Source
	mapping mapping
}

// next implements format.
func (p *ndjson) next() (b block, err error) {
	for size := 0; size < blockSize && len(b.texts) < maxBlock; {
		l, err := p.from.next()
		if errors.Is(err, io.EOF) && len(b.texts) > 0 {
			return b, nil
		}
		if err != nil {
			return block{}, err
		}
		if strings.TrimSpace(l.text) != "" {
			b.texts = append(b.texts, l)
		}
		size += len(l.text) + 1
	}
	return b, nil
}

// lines implements format.
func (p *ndjson) lines(b block, take func(l *line, input string, fault error)) {
	d := jsontext.NewDecoder(new(bytes.Buffer))
	for _, t := range b.texts {
		l := line{number: t.number}
		fault := t.fault
		if fault == nil {
			fault = p.source.Check(t.text)
		}
		if fault == nil {
			d.Reset(bytes.NewBufferString(t.text))
			fault = p.object(d, &l)
		}
		if fault == nil {
			fault = l.finish()
		}
		take(&l, t.text, fault)
	}
}

// object takes the object that a line is.
func (p *ndjson) object(d *jsontext.Decoder, l *line) error {
	if err := members(d, func(name string) error { return p.member(d, l, name) }); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the object", errNotJSON)
	}
	return nil
}

// member takes the value of a member.
func (p *ndjson) member(d *jsontext.Decoder, l *line, name string) error {
	c, ok := p.mapping.of(name)
	if !ok || c.field == fieldMember { // which are in metadata
		return fmt.Errorf("the member %q is not known; map it to one of ours, or to \"-\" to leave it out", name)
	}
	if c.field == fieldIgnored {
		if err := d.SkipValue(); err != nil {
			return notJSON(err)
		}
		return nil
	}
	if l.said.has(c.field) && c.field < fieldURI {
		return fmt.Errorf("it has the member %q twice", name)
	}
	switch kind := d.PeekKind(); {
	case c.field == fieldTargets && kind == '[':
		l.said.add(fieldTargets)
		return elements(d, registry.MaxTargets, func() error { return l.addTarget(d) })
	case kind == '[' && c.ofType(field.List):
		l.said.add(c.field)
		var texts []string
		err := elements(d, registry.MaxSuccessors, func() error {
			one, err := text(d)
			texts = append(texts, one)
			return err
		})
		field.OfRecord()[c.field-fieldRecord].SetList(&l.entry.Record, texts)
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

// ofType reports whether a column is one of a record with values of a type.
func (c column) ofType(t field.Type) bool {
	return c.field >= fieldRecord && c.field < fieldChanged && field.OfRecord()[c.field-fieldRecord].Type == t
}

// addTarget takes one of the targets: an object, or only its URI.
func (l *line) addTarget(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		uri, err := text(d)
		l.more = append(l.more, registry.Target{URI: uri})
		return err
	}
	var of line // whose first target it is
	err := members(d, func(name string) error {
		f := fieldNamed(name)
		if i := field.OfTarget().Index(name); i >= 0 {
			f = fieldURI + fieldID(i) //nolint:gosec // the table is short
		}
		if f < fieldURI || f == fieldsEnd {
			return fmt.Errorf("a target has no member %q", name)
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
