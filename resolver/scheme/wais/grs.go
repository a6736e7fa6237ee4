package wais

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// grsText converts a record in Generic Record Syntax, ISO 23950 appendix REC.5, to text: a line per element,
// with nested elements indented below it.
func grsText(e element) string {
	const growth, least = 4, 4096
	w := grsWriter{room: growth*len(e.content) + least}
	w.elements(e, 0)
	return w.text.String()
}

// grsWriter writes about room bytes at most: many short lines, each deeply indented, would become a long text.
type grsWriter struct {
	text strings.Builder
	room int
}

func (w *grsWriter) add(s string) { _, _ = w.text.WriteString(s) }

// isFull reports whether the limit is reached and the rest is left out.
func (w *grsWriter) isFull() bool { return w.text.Len() > w.room }

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
		w.add(strings.Repeat("  ", depth))
		w.add(grsTag(kind, hasKind, name) + ":")
		w.data(data, depth)
	}
}

// grsTag returns the name of an element: a string tag, or "(type,value)" for a numeric one. Common tags of the
// tag sets M and G are spelled out.
func grsTag(kind element, hasKind bool, name element) string {
	const str = 1
	value, _ := name.only()
	if value.is(contextual, str) {
		return scheme.DecodeText(string(value.bytes()))
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
		w.add("\n")
		w.elements(data, depth+1)
		return
	case data.is(contextual, notThere), data.is(contextual, empty), data.is(contextual, noData):
	case data.is(universal, tagInteger):
		value = strconv.FormatInt(data.integer(), 10)
	case data.is(universal, tagBoolean):
		value = strconv.FormatBool(data.boolean())
	case data.is(universal, tagObjectID):
		value = data.objectID()
	case data.is(universal, tagOctetString), data.is(universal, tagGeneral), data.is(universal, tagVisible),
		data.is(universal, tagGeneralTime):
		value = string(data.bytes())
	default:
		value = "(not displayable)"
	}
	w.value(value, depth)
}

// value writes a value after the name of its element, or below it if it has several lines.
func (w *grsWriter) value(value string, depth int) {
	value = strings.Trim(scheme.DecodeLines(value), "\n")
	if !strings.Contains(value, "\n") {
		w.add(" " + value + "\n")
		return
	}
	w.add("\n")
	for line := range strings.SplitSeq(value, "\n") {
		if w.isFull() {
			w.add("…\n")
			return
		}
		w.add(strings.Repeat("  ", depth+1) + line + "\n")
	}
}
