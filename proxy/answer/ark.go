package answer

import (
	"context"
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/answer/represent"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Support is what a site commits itself to for its names.
type Support = represent.Support

// PathARK is the path by which it is found out that a server resolves ARKs: draft-kunze-ark-42 section 5.6.
const PathARK = "/.well-known/ark"

// ServiceOfARKs returns the document at PathARK: the path that ARKs follow. It ends with a slash.
func ServiceOfARKs(path string) *Static {
	return NewStatic("text/plain; charset=utf-8", []byte(path+"\n"))
}

// inflected answers an ARK with an inflection: with an electronic resource citation, and what the site commits itself to unless it is brief
// (draft-kunze-ark-42 section 5.2). An ARK that was withdrawn or is reserved has one, too, with the status that it has without the
// inflection: clients that look at the status alone must not take it for one that leads somewhere.
func (a *Responder) inflected(ctx context.Context, q *Question) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	answer, failure := a.locate(ctx, q.Query)
	record := recordOf(answer, failure)
	if failure != nil && record == nil && problem.Status(failure) != http.StatusGone {
		return message.Reply{}, problem.About(failure, q.Query.URI)
	}
	w := workOf(q.Base, known, answer, record)
	if failure != nil && record == nil {
		w.Status = represent.Withdrawn
	}
	if q.Inflection == route.Full {
		w.Support = a.supportOf(w.Name, record)
	}
	reply := message.Document("text/plain; charset=utf-8", represent.ERC(w), lasting(answer, failure))
	reply.Failure, reply.Record = failure, record
	if failure != nil {
		reply.Status = problem.Status(failure)
	}
	addLinks(&reply, q, w.Name)
	return withRecord(reply, q.Base, record), nil
}

// supportOf returns what the site commits itself to for an ARK, nil for other names: what the metadata of the name says of it, else the
// settings.
func (a *Responder) supportOf(name string, record *resolver.Record) *represent.Support {
	if !strings.HasPrefix(name, "ark:") {
		return nil
	}
	support := a.config.Support
	if record != nil && !isOfPrefix(record, name) {
		support = represent.ParseSupport(record.Metadata, support)
	}
	return &support
}
