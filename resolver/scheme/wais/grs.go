package wais

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// grsText returns a record of the Generic Record Syntax, ISO 23950 appendix REC.5, as lines of text: an
// element each, with those in it below, indented.
func grsText(e element) string {
	const growth, least = 4, 4096
	w := grsWriter{room: growth*len(e.content) + least}
	w.elements(e, 0)
	return w.String()
}

// grsWriter writes about room octets at most: many short lines, all indented, would become a long text.
type grsWriter struct {
	strings.Builder
	room int
}

// isFull reports whether the rest is left out.
func (w *grsWriter) isFull() bool { return w.Len() > w.room }

// elements writes a SEQUENCE OF TaggedElement.
func (w *grsWriter) elements(e element, depth int) {
	if depth > maxDepth {
		return
	}
	for tagged := range e.children() {
		if w.isFull() {
			return
		}
		const tagType, tagValue, content = 1, 2, 4
		kind, hasKind := tagged.child(tagType)
		name, _ := tagged.child(tagValue)
		data, _ := tagged.child(content)
		w.WriteString(strings.Repeat("  ", depth))
		w.WriteString(grsTag(kind, hasKind, name) + ":")
		w.data(data, depth)
	}
}

// grsTag returns the name of an element: a word, or "(type,value)" where both are numbers. Names of the
// tag sets M and G that are met most are spelled out.
func grsTag(kind element, hasKind bool, name element) string {
	const str = 1
	value, _ := name.only()
	if value.is(contextual, str) {
		return scheme.Text(string(value.octets()))
	}
	n := value.integer()
	if !hasKind {
		return strconv.FormatInt(n, 10)
	}
	switch pair := [2]int64{kind.integer(), n}; pair {
	case [2]int64{2, 1}:
		return "title"
	case [2]int64{2, 2}:
		return "author"
	case [2]int64{2, 4}:
		return "date of publication"
	case [2]int64{2, 6}:
		return "abstract"
	case [2]int64{2, 7}:
		return "name"
	case [2]int64{1, 14}:
		return "local control number"
	default:
		return "(" + strconv.FormatInt(pair[0], 10) + "," + strconv.FormatInt(n, 10) + ")"
	}
}

// data writes an ElementData.
func (w *grsWriter) data(content element, depth int) {
	const notThere, empty, noData, subtree = 2, 3, 4, 6
	data, _ := content.only()
	value := ""
	switch {
	case data.is(contextual, subtree):
		w.WriteByte('\n')
		w.elements(data, depth+1)
		return
	case data.is(contextual, notThere), data.is(contextual, empty), data.is(contextual, noData):
	case data.is(universal, tagInteger):
		value = strconv.FormatInt(data.integer(), 10)
	case data.is(universal, tagBoolean):
		value = strconv.FormatBool(data.boolean())
	case data.is(universal, tagObjectID):
		value = data.objectID()
	case data.is(universal, tagOctetString), data.is(universal, tagGeneral), data.is(universal, tagVisible), data.is(universal, tagGeneralTime):
		value = string(data.octets())
	default:
		value = "(cannot be shown)"
	}
	w.value(value, depth)
}

// value writes a value behind the name of its element, or below it where it has several lines.
func (w *grsWriter) value(value string, depth int) {
	value = strings.Trim(scheme.TextLines(value), "\n")
	if !strings.Contains(value, "\n") {
		w.WriteString(" " + value + "\n")
		return
	}
	w.WriteByte('\n')
	for line := range strings.SplitSeq(value, "\n") {
		if w.isFull() {
			w.WriteString("…\n")
			return
		}
		w.WriteString(strings.Repeat("  ", depth+1) + line + "\n")
	}
}
