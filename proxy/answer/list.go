package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// The media types of replies.
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

// listTypes are the representations of a list of URIs: RFC 2169 section 3.2, and JSON.
func listTypes() []contenttype.MediaType {
	return mediaTypes(typeList, pages.Type, typePlain, typeJSON)
}

// locations answers with all locations, best first.
func (a *Responder) locations(ctx context.Context, q *Question) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	chosen := negotiate(q.Header, listTypes()).MIME()
	if chosen == typeJSON {
		return negotiated(typeJSON, message.Marshal(a.withFailing(api.NewAnswer(q.Query, answer, nil))), answer), nil
	}
	return list(chosen, q.Query.URI, answer, textsOf(answer.Locations)), nil
}

func textsOf(locations []resolver.Location) []string {
	texts := make([]string, len(locations))
	for i, l := range locations {
		texts[i] = l.URI
	}
	return texts
}

// maxNames bounds a list of names; no namespace has so many.
const maxNames = 100

// names answers with at most limit other names of the resource: those that the rules of
// the namespace know, and those that its authority knows.
func (a *Responder) names(ctx context.Context, q *Question, limit int) (message.Reply, error) {
	d, err := a.config.Names.Describe(q.Query)
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	located, err := a.locate(ctx, q.Query)
	if authoritative(err) {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	found, failure := a.ask(ctx, q.Query, resolver.I2Ns)
	names := []string{}
	for _, other := range d.Others {
		names = append(names, other.String())
	}
	for _, name := range textsOf(found.Locations) {
		if name != d.Name.String() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		if failure == nil && limit == 1 {
			failure = &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no other name of this resource is known"}
		}
		if failure != nil {
			return message.Reply{}, problem.About(failure, q.Query.URI)
		}
	}
	names = names[:min(len(names), limit)]
	answer := resolver.Answer{TTL: min(a.config.RuleTTL, found.TTL)}
	if err == nil && q.Query.IsURN() {
		answer = answer.AtMost(located.TTL)
	}
	if failure != nil { // the authority may know more
		answer.TTL = 0
	}
	reply := a.nameList(q, d.Name, answer, names)
	reply.Failure = failure
	return reply, nil
}

func (a *Responder) nameList(q *Question, canonical uri.URI, answer resolver.Answer, names []string) message.Reply {
	chosen := negotiate(q.Header, listTypes()).MIME()
	if chosen == typeJSON {
		document := map[string]any{"input": q.Query.URI.String(), "canonical": canonical.String(), "names": names}
		return negotiated(typeJSON, message.Marshal(document), answer)
	}
	return list(chosen, q.Query.URI, answer, names)
}

// list returns the reply to a question about a URI with a list of URIs, in one of the text types.
func list(chosen string, about uri.URI, answer resolver.Answer, uris []string) message.Reply {
	switch chosen {
	case pages.Type:
		return negotiated(pages.ContentType, pages.List(about.Display(), uris), answer)
	case typePlain:
		return negotiated("text/plain; charset=utf-8", []byte(strings.Join(append(uris, ""), "\r\n")), answer)
	default:
		return negotiated(typeList, uri.AppendList(nil, about, uris), answer)
	}
}
