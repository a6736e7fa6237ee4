package answer

import (
	"strings"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// workOf returns the data of a name as a work. The record may be nil.
func workOf(base string, known resolver.Description, answer resolver.Answer, record *resolver.Record) represent.Work {
	name := known.Name.String()
	w := represent.Work{Name: name, URL: string(route.AppendNameURL(nil, base, name)), Status: represent.Active}
	for _, other := range known.Others {
		w.Others = append(w.Others, other.String())
	}
	for _, l := range answer.Locations {
		link := l.ToLink()
		w.Locations = append(w.Locations,
			represent.Link{URI: link.URI, Type: link.Type, Language: link.Language, Title: link.Title})
	}
	if record == nil {
		return w
	}
	w.Status, w.Since, w.Reason, w.Successors = record.Status, record.Since, record.Reason, record.Successors
	if isOfPrefix(record, name) {
		return w
	}
	if record.Name != name && record.Name != "" { // the name that it is an alias of
		w.Others = append(w.Others, record.Name)
	}
	w.Metadata = represent.ParseMetadata(record.Metadata)
	return w
}

// isOfPrefix reports whether a record is that of a prefix of a name: its metadata describes all names below
// it. A prefix ends with neither a letter nor a digit.
func isOfPrefix(record *resolver.Record, name string) bool {
	if record.Name == "" || len(record.Name) >= len(name) || !strings.HasPrefix(name, record.Name) {
		return false
	}
	end := record.Name[len(record.Name)-1]
	isLetter := 'a' <= end && end <= 'z' || 'A' <= end && end <= 'Z' || '0' <= end && end <= '9'
	return !isLetter
}
