package editor

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/title"
)

// membersOf returns the members of a JSON object in order.
func membersOf(text []byte) ([]field.Member, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil, registry.Invalid("metadata_no_object", inMetadata, "this is not a JSON object")
	}
	return field.ParseMembers(text)
}

// metadataParts returns the names of the parts of metadata with fields of their own.
func metadataParts() (names []string) {
	for _, part := range title.Parts() {
		names = append(names, part.Name)
	}
	return names
}

// memberOfPart returns the index of the member that the field of a part shows, and its text; -1 for none. A
// value that a form could not produce is not shown in the field.
func memberOfPart(part *title.Part, members []field.Member) (i int, text string) {
	for _, name := range part.Members {
		for i, m := range members {
			if !strings.EqualFold(m.Name, name) {
				continue
			}
			if text, ok := shownAs(part, m.Value); ok {
				return i, text
			}
		}
	}
	return -1, ""
}

// shownAs returns the text of the field for a value, one line for each element of a list.
func shownAs(part *title.Part, value json.RawMessage) (text string, ok bool) {
	text, list, isText, isList := words(value)
	var number json.Number
	switch {
	case isText && (!part.MultiValued || !part.List):
		return text, true
	case isList && part.MultiValued:
		return strings.Join(list, "\n"), true
	case part.Name == title.Year && json.Unmarshal(value, &number) == nil &&
		strings.Trim(number.String(), "0123456789") == "":
		return number.String(), number != ""
	default:
		return "", false
	}
}

// split returns the values of the fields of metadata, by part, and the rest of metadata as formatted text.
func split(metadata json.RawMessage) (own texts, rest string) {
	own = make(texts)
	if len(metadata) == 0 || string(metadata) == "null" {
		return own, ""
	}
	all, err := membersOf(metadata)
	if err != nil {
		return own, string(metadata)
	}
	shown := make(map[int]bool)
	for _, part := range title.Parts() {
		if i, text := memberOfPart(&part, all); i >= 0 {
			own[part.Name], shown[i] = text, true
		}
	}
	var others []field.Member
	for i, m := range all {
		if !shown[i] {
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return own, ""
	}
	var b bytes.Buffer
	if json.Indent(&b, field.FormatObject(others), "", "  ") != nil {
		return own, string(field.FormatObject(others))
	}
	return own, b.String()
}

// words returns a value that is a non-empty single-line string, or a list of such strings.
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

// join returns the metadata of a form, and adds its errors to wrong. Unchanged metadata is returned byte for
// byte, and a field is written to the member that it was read from.
func join(in pages.Writer, form texts, before json.RawMessage, wrong *failures) json.RawMessage {
	was, _ := membersOf(before)
	var all, others []field.Member
	rest := form[inMetadata]
	if rest != "" {
		var err error
		if others, err = membersOf([]byte(rest)); err == nil {
			err = registry.UniqueMembers([]byte(rest))
		}
		if err != nil {
			wrong.add(inMetadata, jsonFailure(in, rest, err))
			return nil
		}
	}
	for _, part := range title.Parts() {
		text := form[part.Name]
		if text == "" {
			continue
		}
		m := field.Member{Name: part.Member, Value: valueOfPart(&part, text)}
		i, shown := memberOfPart(&part, was)
		if i >= 0 {
			if m.Name = was[i].Name; shown == text {
				m.Value = was[i].Value
			}
		}
		for _, other := range others {
			// A second member for the part would be ambiguous: readers use only one of them.
			if other.Name == m.Name || i < 0 && part.HasMember(other.Name) {
				wrong.add(part.Name, in.T("invalid.member", "Name", pages.Bdi(other.Name)))
			}
		}
		all = append(all, m)
	}
	made := field.FormatObject(append(all, others...))
	switch {
	case field.SameJSON(made, before):
		return before
	case len(all)+len(others) == 0:
		return nil
	default:
		return made
	}
}

// valueOfPart returns the JSON value for the text of the field of a part.
func valueOfPart(part *title.Part, text string) json.RawMessage {
	list := lines(text)
	if !part.MultiValued || len(list) == 1 && !part.List {
		return quoted(text)
	}
	value, err := field.Marshal(list)
	if err != nil { // strings can always be encoded
		return nil
	}
	return value
}

// jsonFailure returns the error in the JSON object of a field, with its position.
func jsonFailure(in pages.Writer, text string, err error) pages.Content {
	if errors.Is(err, registry.ErrInvalid) {
		return errorContent(in, err)
	}
	var found error
	for d := jsontext.NewDecoder(strings.NewReader(text)); ; {
		if _, found = d.ReadToken(); found != nil {
			break
		}
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(found, io.ErrUnexpectedEOF):
		return in.T("invalid.json_end")
	case !errors.As(found, &syntax): // valid JSON with another error
		return errorContent(in, err)
	default:
		before := text[:min(int(syntax.ByteOffset), len(text))]
		line := strings.LastIndexByte(before, '\n') + 1
		return in.T("invalid.json_at", "Line", 1+strings.Count(before, "\n"), "Column",
			1+utf8.RuneCountInString(before[line:]))
	}
}

func quoted(text string) json.RawMessage { return field.AppendString(nil, text) }

// lines returns the non-empty lines of a text.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return slices.Clip(all)
}
