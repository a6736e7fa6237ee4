package httpmessage

import "strings"

// Lines returns the values of the lines of a field, by its name as net/http spells it, "User-Agent"; none where it is missing. It
// is how a request is read, by whichever protocol it came. The caller neither keeps nor changes the lines or their texts.
// Fields.Lines is one, LinesOf another. The methods take nil as fields without lines.
type Lines func(name string) []string

// Of returns the values of the lines of a field, none where it is missing.
func (l Lines) Of(name string) []string {
	if l == nil {
		return nil
	}
	return l(name)
}

// Has reports whether there is a line of a field.
func (l Lines) Has(name string) bool { return len(l.Of(name)) > 0 }

// Value returns the value of the first line of a field, "" for none.
func (l Lines) Value(name string) string {
	if lines := l.Of(name); len(lines) > 0 {
		return lines[0]
	}
	return ""
}

// List returns the value of a field as a whole, "" for none: its lines are one list (RFC 9110 section 5.3).
func (l Lines) List(name string) string { return strings.Join(l.Of(name), ", ") }
