package bulk

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// ndjson reads a JSON object a line. Members are what columns are, and targets, successors and metadata
// have their structure.
type ndjson struct{ mapping mapping }

// lines implements parser.
func (p *ndjson) lines(b block, take func(l *line, input string, fault error)) {
	text, number := b.text, b.line
	for ; text != ""; number++ {
		input, rest, _ := strings.Cut(text, "\n")
		text = rest
		if strings.TrimSpace(input) == "" {
			continue
		}
		l := line{number: number}
		fault := members(input, func(name, value string) error { return p.member(&l, name, value) })
		if fault == nil {
			fault = l.finish()
		}
		take(&l, input, fault)
	}
}

func (p *ndjson) member(l *line, name, value string) error {
	c, ok := p.mapping.of(name)
	if !ok || c.field == fieldMember { // which are in metadata
		return fmt.Errorf("the member %q is not known; map it to one of ours, or to \"-\" to leave it out", name)
	}
	if c.field == fieldIgnored {
		return nil
	}
	if l.said.has(c.field) && c.field < fieldURI {
		return fmt.Errorf("it has the member %q twice", name)
	}
	switch {
	case c.field == fieldTargets && value[0] == '[':
		l.said.add(fieldTargets)
		return elements(value, func(value string) error { return l.addTarget(value) })
	case c.field == fieldSuccessors && value[0] == '[':
		l.said.add(fieldSuccessors)
		return elements(value, func(value string) error {
			successor, err := text(value)
			l.entry.Successors = append(l.entry.Successors, successor)
			return err
		})
	case c.field == fieldMetadata && value[0] == '{':
		return l.set(c, value)
	}
	cell, err := text(value)
	if err != nil {
		return fmt.Errorf("the member %q: %w", name, err)
	}
	return l.set(c, cell)
}

// addTarget takes one of the targets: an object, or only its URI.
func (l *line) addTarget(value string) error {
	if value[0] != '{' {
		uri, err := text(value)
		l.more = append(l.more, registry.Target{URI: uri})
		return err
	}
	var of line // whose first target it is
	err := members(value, func(name, value string) error {
		f := fieldNamed(name)
		if name == columnNames[fieldNote] {
			f = fieldTargetNote
		}
		if f < fieldURI || f == fieldsEnd {
			return fmt.Errorf("a target has no member %q", name)
		}
		cell, err := text(value)
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
