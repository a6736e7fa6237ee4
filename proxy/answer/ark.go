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

// Support is the commitment of a site to its names.
type Support = represent.Support

// PathARK is the path that tells whether a server resolves ARKs: draft-kunze-ark-42 section 5.6.
const PathARK = "/.well-known/ark"

// ARKService returns the document at PathARK: the path prefix of ARKs, with a trailing slash.
func ARKService(path string) *Static {
	return NewStatic("text/plain; charset=utf-8", []byte(path+"\n"))
}

// inflected replies to a request for an ARK with an inflection: with an electronic resource citation and,
// unless the inflection is brief, the commitment of the site (draft-kunze-ark-42 section 5.2). A withdrawn or
// reserved ARK has a citation, too, with the status that it has without the inflection: clients that check
// only the status must not take it for an ARK that resolves.
func (a *Responder) inflected(ctx context.Context, q *Request) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	answer, failure := a.locate(ctx, q.Query)
	record := recordOf(answer, failure)
	if failure != nil && record == nil && problem.Status(failure) != http.StatusGone {
		return message.Reply{}, problem.WithURI(failure, q.Query.URI)
	}
	w := workOf(q.Base, known, answer, record)
	if failure != nil && record == nil {
		w.Status = represent.Withdrawn
	}
	if q.Inflection == route.InflectionFull {
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

// supportOf returns the commitment to an ARK, nil for other names: that in its metadata, or else that of the
// configuration.
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
