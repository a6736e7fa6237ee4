package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// membersOf returns the members of a JSON object in their order.
func membersOf(text []byte) ([]field.Member, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, errNoObject
	}
	all, err := field.ParseMembers(text)
	if err != nil {
		return nil, notJSON(err)
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
	var others []field.Member
	for _, m := range all {
		switch text, list, isText, isList := words(m.Value); {
		case m.Name == "title" && isText:
			title = text
		case m.Name == "tags" && isList:
			tags = strings.Join(list, "\n")
		default:
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return title, tags, ""
	}
	var b bytes.Buffer
	if json.Indent(&b, field.FormatObject(others), "", "  ") != nil {
		return title, tags, string(field.FormatObject(others))
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
	var all []field.Member
	if title != "" {
		all = append(all, field.Member{Name: "title", Value: quoted(title)})
	}
	if list := lines(tags); len(list) > 0 {
		value, err := field.Marshal(list)
		if err != nil {
			return nil, fmt.Errorf("the tags: %w", err)
		}
		all = append(all, field.Member{Name: "tags", Value: value})
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
			if m.Name == "title" && title != "" || m.Name == "tags" && tags != "" {
				return nil, fmt.Errorf("%q is here, and in its own field", m.Name)
			}
		}
		all = append(all, others...)
	}
	made := field.FormatObject(all)
	switch {
	case field.SameJSON(made, before):
		return before, nil
	case len(all) == 0:
		return nil, nil
	default:
		return made, nil
	}
}

func quoted(text string) json.RawMessage { return field.AppendString(nil, text) }

// lines returns the lines of a text that are not empty.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
