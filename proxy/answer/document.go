package answer

import (
	"context"
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

// typeTrace is the media type of the API's document with a resolution trace, which takes precedence over any
// other format.
const typeTrace = "application/vnd.urnd.trace+json"

func wantsTrace(header httpmessage.Header) bool {
	accept := header.List("Accept")
	if !MayWantTrace(accept) {
		return false
	}
	// "q=0" excludes the type.
	_, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept,
		[]contenttype.MediaType{contenttype.NewMediaType(typeTrace)})
	return err == nil
}

// MayWantTrace reports whether a value of Accept may request the resolution trace.
func MayWantTrace(accept string) bool { return strings.Contains(accept, typeTrace) }

// document replies with the answer as JSON, on request with the steps of its resolution.
func (a *Responder) document(ctx context.Context, q *Request) (message.Reply, error) {
	ctx, trace := a.traced(ctx)
	if q.Explains || wantsTrace(q.Header) {
		trace.Explain()
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if showsTrace(q) {
		return a.explanation(q, answer, err, trace.PublicSteps()), nil
	}
	if err != nil {
		return message.Reply{}, &problem.Failure{Err: err, Input: q.Query.URI.String(), Trace: trace.PublicSteps()}
	}
	document := a.withFailing(api.NewAnswer(q.Query, answer, trace.PublicSteps()))
	reply := message.JSON(http.StatusOK, document)
	reply.Vary, reply.Cache, reply.Record = "Accept", answer.Cache, answer.Record()
	switch {
	case wantsTrace(q.Header):
		reply.ContentType = typeTrace
	case !q.Explains:
		reply.SharedMaxAge = answer.SharedLifetime()
		reply.CacheControl, reply.CacheStatus = message.MaxAge(answer.Lifetime()),
			message.CacheStatus(answer.Cache, answer.TTL)
		reply.Fields.Set("ETag", entityTag(document))
	}
	addLinks(&reply, q, answer.Name.String())
	return withRecord(reply, q.Base, answer.Record()), nil
}

// entityTag returns the entity tag of an answer. It is weak (RFC 9110 section 8.8.1): it does not include the
// TTL and the state of the cache.
func entityTag(document api.Answer) string {
	document.TTL, document.Cache, document.Trace = 0, "", nil
	return `W/"` + checksum(message.Marshal(document)) + `"`
}

// withFailing marks locations whose server is failing.
func (a *Responder) withFailing(document api.Answer) api.Answer {
	for i := range document.Locations {
		document.Locations[i].Failing = a.config.Failing(document.Locations[i].URI)
	}
	return document
}
