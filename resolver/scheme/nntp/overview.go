package nntp

import (
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// overview is the overview of an article in a group: RFC 3977 section 8.3. Texts are undecoded.
type overview struct {
	number     string
	subject    string
	from       string
	date       time.Time // the zero value if unknown
	id         string    // with angle brackets
	references []string  // with angle brackets, the oldest first
	size       *int64    // in bytes; nil if unknown
}

// maxReferences is the maximum number of references that are used; the last ones are the closest ancestors.
const maxReferences = 100

// overviews returns the overviews of a page; incomplete is the reason if some are missing.
func (x exchange) overviews(p page) (found []overview, incomplete string, err error) {
	commands := [...]string{"OVER", "XOVER"} // RFC 2980 section 2.8 has XOVER
	if !x.client.capabilities.has("OVER") {
		commands[0], commands[1] = commands[1], commands[0]
	}
	for _, name := range commands {
		var r reply
		if r, err = x.client.command(fmt.Sprintf("%s %d-%d", name, p.first, p.last)); err != nil {
			return nil, "", err
		}
		switch r.code {
		case codeOverview:
			return x.readOverviews()
		case codeNoNumber, codeNoArticle: // all have expired
			return nil, "", nil
		case codeUnknown, codeSyntax, codeFeature:
			err = r.refusal(x.server)
		default:
			return nil, "", r.refusal(x.server)
		}
	}
	return nil, "", err
}

// readOverviews reads the overviews in a response.
func (x exchange) readOverviews() (found []overview, incomplete string, err error) {
	lines := x.client.lines()
	for lines.next() {
		if len(found) == x.config.Limits.Entries {
			return found, fmt.Sprintf("only the first %d articles are shown", len(found)), nil
		}
		if o, ok := parseOverview(lines.text()); ok {
			found = append(found, o)
		}
	}
	if lines.truncated {
		incomplete = tooLong(x.config.Limits.Bytes)
	}
	return found, incomplete, lines.end()
}

// parseOverview parses an overview line: the number, Subject, From, Date, Message-ID, References, bytes, lines,
// and other fields, separated by tabs. Fields after Message-ID may be absent.
func parseOverview(line string) (overview, bool) {
	const (
		subject = iota + 1
		from
		date
		id
		references
		data
	)
	fields := strings.Split(line, "\t")
	if _, err := parseNumber(fields[0]); err != nil || len(fields) <= id {
		return overview{}, false
	}
	o := overview{
		number: fields[0], subject: fields[subject], from: fields[from], date: parseDate(fields[date]),
		id: strings.TrimSpace(fields[id]),
	}
	if len(fields) > references {
		o.references = messageIDs(fields[references])
	}
	if len(fields) > data {
		if n, ok := scheme.ParseSize(fields[data]); ok {
			o.size = &n
		}
	}
	return o, true
}

// messageIDs returns the message-ids in a field, with angle brackets, at most the last maxReferences.
func messageIDs(field string) []string {
	var ids []string
	for {
		_, rest, ok := strings.Cut(field, "<")
		id, after, found := strings.Cut(rest, ">")
		if !ok || !found {
			break
		}
		if i := strings.LastIndexByte(id, '<'); i >= 0 { // the previous one is unterminated
			id = id[i+1:]
		}
		if id != "" && !strings.ContainsAny(id, " \t") {
			ids = append(ids, "<"+id+">")
		}
		field = after
	}
	return ids[max(0, len(ids)-maxReferences):]
}

// item returns an article as an item of its group.
func (x exchange) item(o overview, depth int) scheme.Item {
	item := scheme.Item{
		Kind: scheme.ItemArticle, Name: headerText(o.subject), From: headerText(o.from), Modified: o.date, Size: o.size,
		Depth: depth,
		URI:   x.target.links.numbered(x.target.group, o.number),
	}
	if item.URI == "" {
		item.URI = x.target.links.message(strings.Trim(o.id, "<>"))
	}
	if strings.TrimSpace(item.Name) == "" {
		item.Name = "(no subject)"
	}
	return item
}
