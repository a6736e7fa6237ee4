package answer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Media types of replies.
const (
	typeList  = "text/uri-list"
	typePlain = "text/plain"
	typeJSON  = "application/json"
)

func mediaTypes(names ...string) []contenttype.MediaType {
	types := make([]contenttype.MediaType, len(names))
	for i, name := range names {
		types[i] = contenttype.NewMediaType(name)
	}
	return types
}

// listTypes returns the media types of a list of URIs: RFC 2169 section 3.2, and JSON.
func listTypes() []contenttype.MediaType {
	return mediaTypes(typeList, pages.Type, typePlain, typeJSON)
}

// locations replies with all locations, best first.
func (a *Responder) locations(ctx context.Context, q *Request) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	chosen := negotiate(q.Header, listTypes()).MIME()
	reply := a.list(chosen, q, answer, textsOf(answer.Locations))
	if chosen == typeJSON {
		reply = negotiated(typeJSON, message.Marshal(a.withFailing(api.NewAnswer(q.Query, answer, nil))), answer)
	}
	addLinks(&reply, q, answer.Name.String())
	return withRecord(reply, q.Base, answer.Record()), nil
}

func textsOf(locations []resolver.Location) []string {
	texts := make([]string, len(locations))
	for i, l := range locations {
		texts[i] = l.URI
	}
	return texts
}

// maxNames limits a list of names; no namespace has so many.
const maxNames = 100

// names replies with other names of the resource.
func (a *Responder) names(ctx context.Context, q *Request) (message.Reply, error) {
	found, err := a.namesOf(ctx, q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	answer := resolver.Answer{TTL: found.ttl}
	chosen := negotiate(q.Header, listTypes()).MIME()
	reply := a.list(chosen, q, answer, found.names)
	if chosen == typeJSON {
		reply = negotiated(typeJSON, message.Marshal(found.document(q.Query)), answer)
	}
	reply.Failure, reply.Record = found.failure, found.record
	addLinks(&reply, q, found.canonical)
	return reply, nil
}

// otherNames are the other names of a resource.
type otherNames struct {
	canonical string
	names     []string
	ttl       time.Duration
	failure   error // error of the query to its authority, which may know more names
	record    *resolver.Record
}

// document returns the names as JSON.
func (n otherNames) document(q resolver.Query) any {
	return map[string]any{"input": q.URI.String(), "canonical": n.canonical, "names": n.names}
}

// namesOf returns the other names for a service: at most maxNames for I2Ns, and exactly one for I2N.
func (a *Responder) namesOf(ctx context.Context, q resolver.Query) (otherNames, error) {
	found, err := a.otherNames(ctx, q)
	limit := maxNames
	if q.Service == resolver.I2N {
		limit = 1
		if err == nil && len(found.names) == 0 {
			err = cmp.Or(found.failure, error(&resolver.Negative{
				Kind: resolver.ErrNotFound, Reason: "no other name of this resource is known",
				Code: "no_other_name_known",
			}))
		}
	}
	found.names = found.names[:min(len(found.names), limit)]
	return found, err
}

// otherNames returns the names by the rules of the namespace, and those of its authority. An empty result is
// an error only if the query to the authority has failed.
func (a *Responder) otherNames(ctx context.Context, q resolver.Query) (otherNames, error) {
	d, err := a.config.Names.Describe(q)
	if err != nil {
		return otherNames{}, err
	}
	located, err := a.locate(ctx, q)
	if authoritative(err) {
		return otherNames{record: resolver.RecordOf(err)}, err
	}
	found, failure := a.ask(ctx, q, resolver.I2Ns)
	n := otherNames{
		canonical: d.Name.String(), names: []string{}, ttl: min(a.config.RuleTTL, found.TTL),
		failure: failure, record: located.Record(),
	}
	for _, other := range d.Others {
		n.names = append(n.names, other.String())
	}
	for _, name := range textsOf(found.Locations) {
		if name != n.canonical && !slices.Contains(n.names, name) {
			n.names = append(n.names, name)
		}
	}
	if len(n.names) == 0 && failure != nil && err != nil { // neither source knows the name
		return otherNames{}, failure
	}
	if err == nil && q.IsURN() {
		n.ttl = min(n.ttl, located.TTL, located.Lifetime())
	}
	if failure != nil {
		n.ttl = 0
	}
	return n, nil
}

// list returns a list of URIs about the URI of a question, in one of the text types.
func (a *Responder) list(chosen string, q *Request, answer resolver.Answer, uris []string) message.Reply {
	about := q.Query.URI
	switch chosen {
	case pages.Type:
		return shown(a.writer(q).List(about.Display(), uris), answer)
	case typePlain:
		return negotiated("text/plain; charset=utf-8", []byte(strings.Join(append(uris, ""), "\r\n")), answer)
	default:
		return negotiated(typeList, uri.AppendList(nil, about, uris), answer)
	}
}
