package uri

import (
	"strings"
)

// Template is a URI template, RFC 6570, that is expanded often. It is immutable; make it by ParseTemplate.
type Template struct {
	text  string
	parts []templatePart // nil where the library expands it
}

// templatePart is a literal, and the variable that follows it, "" for none.
type templatePart struct {
	literal, variable string
	keepsReserved     bool // {+variable}: RFC 6570 section 3.2.3
}

// TemplateValue is the value of a variable.
type TemplateValue struct{ Name, Text string }

// ParseTemplate returns a template. The error says what of it is not valid.
func ParseTemplate(text string) (Template, error) {
	if _, err := ExpandTemplate(text, nil); err != nil {
		return Template{}, err
	}
	return Template{text, partsOf(text)}, nil
}

// partsOf returns the parts of a template that has only expressions of one variable without modifiers, and literals that are sent as
// they are, which nearly all have; else nil.
func partsOf(text string) []templatePart {
	parts := []templatePart{}
	for text != "" {
		literal, rest, hasExpression := strings.Cut(text, "{")
		if !containsOnly(literal, isLiteral) {
			return nil
		}
		part := templatePart{literal: literal}
		if hasExpression {
			if part.variable, rest, hasExpression = strings.Cut(rest, "}"); !hasExpression {
				return nil
			}
			part.variable, part.keepsReserved = strings.CutPrefix(part.variable, "+")
			if part.variable == "" || !containsOnly(part.variable, isVariable) {
				return nil
			}
		}
		parts, text = append(parts, part), rest
	}
	return parts
}

// isLiteral reports whether an octet of a template is copied: RFC 6570 section 3.1.
func isLiteral(c rune) bool {
	return c < 0x80 && c != '\'' && (is(byte(c), classUnreserved) || isReserved(byte(c))) //nolint:gosec // it is ASCII
}

// containsOnly reports whether a text has no other characters.
func containsOnly(text string, is func(c rune) bool) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !is(c) })
}

func isVariable(c rune) bool {
	return c < 0x80 && (is(byte(c), classAlpha|classDigit) || c == '_') //nolint:gosec // it is ASCII
}

// isReserved: RFC 3986 section 2.2.
func isReserved(c byte) bool {
	return is(c, classQuery) && !is(c, classUnreserved) || c == '#' || c == '[' || c == ']'
}

// Expand returns the expansion of the template; a variable without a value is undefined.
func (t Template) Expand(values []TemplateValue) (string, error) {
	if t.parts == nil || !areOfURIs(values) {
		all := make(Variables, len(values))
		for _, v := range values {
			all[v.Name] = v.Text
		}
		return ExpandTemplate(t.text, all)
	}
	var room [256]byte
	out := room[:0]
	for i := range t.parts {
		part := &t.parts[i]
		out = append(out, part.literal...)
		out = part.append(out, valueOf(part.variable, values))
	}
	return string(out), nil
}

// valueOf returns the last value of a variable, "" for none.
func valueOf(name string, values []TemplateValue) string {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i].Name == name {
			return values[i].Text
		}
	}
	return ""
}

// areOfURIs reports whether values have only what URIs have, as those of names.
func areOfURIs(values []TemplateValue) bool {
	for i := range values {
		text := values[i].Text
		for at := range len(text) {
			if c := text[at]; !is(c, classUnreserved) && !isReserved(c) && !isTriple(text, at) {
				return false
			}
		}
	}
	return true
}

// append appends the expansion of the variable.
func (p *templatePart) append(out []byte, text string) []byte {
	for i := range len(text) {
		switch c := text[i]; {
		case is(c, classUnreserved), p.keepsReserved && (isReserved(c) || isTriple(text, i)):
			out = append(out, c)
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&0xf])
		}
	}
	return out
}
