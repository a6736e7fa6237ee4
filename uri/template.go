package uri

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Template is a URI template (RFC 6570) whose variables are strings. It is immutable; create it with
// ParseTemplate. The zero value is the empty template.
type Template struct{ parts []templatePart }

// templatePart is a literal, encoded for output, and the expression that follows it.
type templatePart struct {
	literal   string
	operator  operator // of the expression; the zero value if no expression follows, as at the end
	variables []variableOf
}

// variableOf is a variable of an expression: section 2.3. The explode modifier ("*") has no effect on a string.
type variableOf struct {
	name   string
	prefix int // prefix modifier, in characters; 0 for none
}

// operator is a row of the table in RFC 6570 appendix A.
type operator struct {
	first, separator string
	named            bool
	ifEmpty          string // follows the name of an empty value
	keepsReserved    bool
}

// operatorOf returns the operator of a character (section 2.2); 0 is the expression without an operator.
func operatorOf(c byte) (o operator, ok bool) {
	switch c {
	case 0:
		return operator{separator: ","}, true
	case '+':
		return operator{separator: ",", keepsReserved: true}, true
	case '#':
		return operator{first: "#", separator: ",", keepsReserved: true}, true
	case '.', '/':
		return operator{first: string(c), separator: string(c)}, true
	case ';':
		return operator{first: ";", separator: ";", named: true}, true
	case '?':
		return operator{first: "?", separator: "&", named: true, ifEmpty: "="}, true
	case '&':
		return operator{first: "&", separator: "&", named: true, ifEmpty: "="}, true
	default:
		return operator{}, false
	}
}

// TemplateValue is the value of a variable. A variable without one is undefined.
type TemplateValue struct{ Name, Text string }

// ParseTemplate parses a template. The error names the part that is not valid.
func ParseTemplate(text string) (Template, error) {
	var t Template
	for text != "" {
		literal, rest, hasExpression := strings.Cut(text, "{")
		if strings.Contains(literal, "}") {
			return Template{}, fmt.Errorf("the expression %s} has no { (RFC 6570 section 2.2)",
				literal[:strings.IndexByte(literal, '}')])
		}
		part := templatePart{literal: literalOf(literal)}
		if hasExpression {
			expression, after, closed := strings.Cut(rest, "}")
			if !closed {
				return Template{}, fmt.Errorf("the expression {%s has no } (RFC 6570 section 2.2)", expression)
			}
			if err := part.parse(expression); err != nil {
				return Template{}, err
			}
			rest = after
		}
		t.parts, text = append(t.parts, part), rest
	}
	return t, nil
}

// literalOf returns a literal encoded for output: characters that are not allowed in a URI are percent-encoded
// (section 3.1).
func literalOf(text string) string {
	return string(appendExpanded(make([]byte, 0, len(text)), text, true))
}

// parse parses an expression without its braces: section 2.2.
func (p *templatePart) parse(expression string) error {
	list, c := expression, byte(0)
	if list != "" && !isVariable(list[0]) {
		c, list = list[0], list[1:]
	}
	var ok bool
	if p.operator, ok = operatorOf(c); !ok {
		return fmt.Errorf("{%s} begins neither with a variable nor with one of + # . / ; ? & (RFC 6570 section 2.2)",
			expression)
	}
	for text := range strings.SplitSeq(list, ",") {
		v := variableOf{name: text}
		if name, length, hasPrefix := strings.Cut(text, ":"); hasPrefix {
			const most = 9999 // section 2.4.1
			n, err := strconv.ParseUint(length, 10, 16)
			if err != nil || n > most || length[0] == '0' {
				return fmt.Errorf("the prefix modifier :%s of {%s} is not a number from 1 to 9999 (RFC 6570 section "+
					"2.4.1)", length, expression)
			}
			v = variableOf{name, int(n)}
		} else {
			v.name = strings.TrimSuffix(text, "*") // section 2.4.2
		}
		if !isVariableName(v.name) {
			return fmt.Errorf("%q in {%s} is not the name of a variable: it has letters, digits, \"_\" and single "+
				"dots between these "+
				"(RFC 6570 section 2.3)", v.name, expression)
		}
		p.variables = append(p.variables, v)
	}
	return nil
}

// isVariableName reports whether a text is a varname of section 2.3.
func isVariableName(text string) bool {
	isDot := true // another dot may not follow
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '.' && !isDot:
			isDot = true
			continue
		case text[i] == '%' && isTriple(text, i):
			i += 2
		case text[i] == '%' || !isVariable(text[i]):
			return false
		}
		isDot = false
	}
	return !isDot
}

// isVariable reports whether a variable name may start with c.
func isVariable(c byte) bool { return is(c, classAlpha|classDigit) || c == '_' || c == '%' }

// Variables returns the names of the variables in their order, with repetitions.
func (t Template) Variables() (names []string) {
	for i := range t.parts {
		for _, v := range t.parts[i].variables {
			names = append(names, v.name)
		}
	}
	return names
}

// Expand returns the expansion of the template (section 3.2). If a variable has several values, the last one
// counts.
func (t Template) Expand(values []TemplateValue) string {
	var room [256]byte
	out := room[:0]
	for i := range t.parts {
		part := &t.parts[i]
		out = append(out, part.literal...)
		before := part.operator.first
		for _, v := range part.variables {
			text, ok := valueOf(v.name, values)
			if !ok {
				continue
			}
			out = v.append(append(out, before...), text, &part.operator)
			before = part.operator.separator
		}
	}
	return string(out)
}

// append appends the expansion of the variable with value text.
func (v variableOf) append(out []byte, text string, o *operator) []byte {
	if o.named {
		out = append(out, v.name...)
		if text == "" {
			return append(out, o.ifEmpty...)
		}
		out = append(out, '=')
	}
	if v.prefix > 0 {
		text = beginning(text, v.prefix, o.keepsReserved)
	}
	return appendExpanded(out, text, o.keepsReserved)
}

// valueOf returns the last value of a variable.
func valueOf(name string, values []TemplateValue) (text string, ok bool) {
	for i := len(values) - 1; i >= 0; i-- {
		if values[i].Name == name {
			return values[i].Text, true
		}
	}
	return "", false
}

// appendExpanded appends a percent-encoded text. Unreserved characters are copied; with keepsReserved, so are
// reserved characters and percent-encodings.
func appendExpanded(out []byte, text string, keepsReserved bool) []byte {
	for i := range len(text) {
		switch c := text[i]; {
		case is(c, classUnreserved), keepsReserved && (isReserved(c) || isTriple(text, i)):
			out = append(out, c)
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&0xf])
		}
	}
	return out
}

// isReserved reports whether c is a reserved character: RFC 3986 section 2.2.
func isReserved(c byte) bool {
	return is(c, classQuery) && !is(c, classUnreserved) || c == '#' || c == '[' || c == ']'
}

// beginning returns the first n characters of a text: section 2.4.1. With keepsEncoded, a percent-encoded
// character counts as one.
func beginning(text string, n int, keepsEncoded bool) string {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		end += characterSize(text[end:], keepsEncoded)
	}
	return text[:end]
}

// characterSize returns the length in bytes of the first character of a text. With keepsEncoded, a
// percent-encoded character has the length of all its percent-encodings.
func characterSize(text string, keepsEncoded bool) int {
	var decoded []byte
	for i := 0; keepsEncoded && len(decoded) < utf8.UTFMax && isTriple(text, i); i += 3 {
		decoded = append(decoded, unhex(text[i+1])<<4|unhex(text[i+2]))
	}
	if len(decoded) == 0 {
		_, size := utf8.DecodeRuneInString(text)
		return size
	}
	_, size := utf8.DecodeRune(decoded)
	return 3 * size
}
