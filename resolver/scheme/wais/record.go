package wais

import (
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/scheme"
)

// record is a record of a result set.
type record struct {
	syntax  string      // object identifier of the record syntax
	bytes   []byte      // content of an octet string or a character string
	element element     // content of an ASN.1 value
	failed  *diagnostic // diagnostic in place of the record; nil for a record
}

// parseRecord returns the record in a NamePlusRecord.
func parseRecord(e element) record {
	const choice, retrieval, surrogate = 1, 1, 2
	inner, _ := e.child(choice)
	if r, ok := inner.child(retrieval); ok {
		return parseExternal(r)
	}
	d, _ := inner.child(surrogate)
	if sequence, ok := d.find(universal, tagSequence); ok {
		d = sequence
	}
	return record{failed: parseDiagnostic(d)}
}

// parseExternal returns the record in an EXTERNAL, which may be tagged implicitly or explicitly: X.690 section
// 8.18.
func parseExternal(e element) record {
	if inner, ok := e.find(universal, tagExternal); ok {
		e = inner
	}
	id, _ := e.find(universal, tagObjectID)
	r := record{syntax: id.objectID()}
	const single, aligned, arbitrary = 0, 1, 2
	for part := range e.children() {
		switch {
		case part.is(contextual, aligned):
			r.bytes = part.bytes()
		case part.is(contextual, arbitrary) && len(part.content) > 0:
			r.bytes = part.content[1:] // skips the number of unused bits
		case part.is(contextual, single):
			r.element, _ = part.only()
			if !r.element.constructed {
				r.bytes = r.element.content
			}
		}
	}
	if r.syntax == idSUTRS && r.bytes == nil {
		r.bytes = r.element.bytes() // a string in segments
	}
	return r
}

// text converts the record to lines of text.
func (r record) text() string {
	switch {
	case r.failed != nil:
		return scheme.DecodeText(r.failed.Error())
	case isMARC(r.syntax):
		if m, ok := parseMARC(r.bytes, r.syntax == idUSMARC); ok {
			return m.text()
		}
	case r.syntax == idGRS1:
		return grsText(r.element)
	case r.syntax == idOPAC:
		return opacText(r.element)
	}
	if r.bytes == nil && r.element.constructed {
		return "Record in the syntax " + r.syntax + ", not displayable.\n"
	}
	return scheme.DecodeLines(string(r.bytes))
}

// brief is the summary of a record in a result list.
type brief struct{ title, author, note string }

// brief returns the summary of the record.
func (r record) brief() brief {
	var b brief
	switch {
	case isMARC(r.syntax):
		if m, ok := parseMARC(r.bytes, r.syntax == idUSMARC); ok {
			b = m.brief()
		}
	case r.syntax == idXML:
		b.title = xmlTitle(r.bytes)
	case r.syntax == idOPAC:
		if inner, ok := opacRecord(r.element); ok {
			b = inner.brief()
		}
	}
	if b.title == "" {
		b.title = titleLine(r.text())
	}
	return brief{short(b.title), short(b.author), short(b.note)}
}

// titleLine returns the value of the line "Title: ...", otherwise the first line.
func titleLine(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); {
		case strings.EqualFold(strings.TrimSpace(name), "title") && value != "":
			return value
		case first == "":
			first = line
		}
	}
	return first
}

// short returns a text of the server as a short line.
func short(s string) string {
	const most = 200
	return plaintext.Shorten(scheme.DecodeText(strings.Join(strings.Fields(s), " ")), most)
}
