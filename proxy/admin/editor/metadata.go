package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// member is one of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of a JSON object in their order.
func membersOf(text []byte) (all []member, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, errNoObject
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		m := member{}
		m.name, _ = name.(string)
		if err := d.Decode(&m.value); err != nil {
			return nil, notJSON(err)
		}
		all = append(all, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON(err)
	}
	if d.More() {
		return nil, errNoObject
	}
	return all, nil
}

var errNoObject = errors.New("this is not a JSON object")

// notJSON returns an error of decoding in words for people.
func notJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is not complete", errNoObject)
	}
	return fmt.Errorf("%w: %w", errNoObject, err)
}

// split returns the title and the tags of metadata, a tag a line, and the rest of it as text for people. What is not as a form could make it
// is in the rest.
func split(metadata json.RawMessage) (title, tags, rest string) {
	if len(metadata) == 0 || string(metadata) == "null" {
		return "", "", ""
	}
	all, err := membersOf(metadata)
	if err != nil {
		return "", "", string(metadata)
	}
	var others []member
	for _, m := range all {
		switch text, list, isText, isList := words(m.value); {
		case m.name == "title" && isText:
			title = text
		case m.name == "tags" && isList:
			tags = strings.Join(list, "\n")
		default:
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return title, tags, ""
	}
	var b bytes.Buffer
	if json.Indent(&b, object(others), "", "  ") != nil {
		return title, tags, string(object(others))
	}
	return title, tags, b.String()
}

// words returns a value that is a text of one line which is not empty, or a list of such.
func words(raw json.RawMessage) (text string, list []string, isText, isList bool) {
	isLine := func(s string) bool { return s != "" && s == strings.TrimSpace(s) && !strings.ContainsAny(s, "\r\n") }
	if json.Unmarshal(raw, &text) == nil && isLine(text) {
		return text, nil, true, false
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return "", nil, false, false
	}
	for _, s := range list {
		if !isLine(s) {
			return "", nil, false, false
		}
	}
	return "", list, false, true
}

// join returns metadata of a title, tags and the rest, which may be "". Where it says the same as before it is that.
func join(title, tags, rest string, before json.RawMessage) (json.RawMessage, error) {
	var all []member
	if title != "" {
		all = append(all, member{"title", quoted(title)})
	}
	if list := lines(tags); len(list) > 0 {
		value, err := marshal(list)
		if err != nil {
			return nil, fmt.Errorf("the tags: %w", err)
		}
		all = append(all, member{"tags", value})
	}
	if rest != "" {
		others, err := membersOf([]byte(rest))
		if err == nil {
			err = registry.UniqueMembers([]byte(rest))
		}
		if err != nil {
			return nil, err
		}
		for _, m := range others {
			if m.name == "title" && title != "" || m.name == "tags" && tags != "" {
				return nil, fmt.Errorf("%q is here, and in its own field", m.name)
			}
		}
		all = append(all, others...)
	}
	made := object(all)
	switch {
	case isSame(made, before):
		return before, nil
	case len(all) == 0:
		return nil, nil
	default:
		return made, nil
	}
}

// object returns the JSON object of members.
func object(all []member) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quoted(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func quoted(text string) json.RawMessage {
	quote, err := marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // no text fails
	}
	return quote
}

// lines returns the lines of a text that are not empty.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
