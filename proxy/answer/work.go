package answer

import (
	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// workOf returns what is known of a name as a work that others cite and harvest. The record may be nil.
func workOf(base string, known resolver.Description, answer resolver.Answer, record *resolver.Record) represent.Work {
	name := known.Name.String()
	w := represent.Work{Name: name, URL: string(route.AppendNameURL(nil, base, name)), Status: represent.Active}
	for _, other := range known.Others {
		w.Others = append(w.Others, other.String())
	}
	for _, l := range answer.Locations {
		link := l.AsLink()
		w.Locations = append(w.Locations, represent.Link{URI: link.URI, Type: link.Type, Language: link.Language, Title: link.Title})
	}
	if record != nil {
		w.Status, w.Since, w.Reason, w.Successors = record.Status, record.Since, record.Reason, record.Successors
		w.Metadata = represent.ParseMetadata(record.Metadata)
	}
	return w
}
