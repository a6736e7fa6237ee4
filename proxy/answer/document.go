package answer

import (
	"context"
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// typeTrace asks for the document of the API in place of an answer.
const typeTrace = "application/vnd.urnd.trace+json"

func wantsTrace(header http.Header) bool {
	accept := header["Accept"]
	if len(accept) == 0 || !strings.Contains(accept[0], typeTrace) {
		return false
	}
	// The client may say that it is the one type which it does not accept.
	_, _, err := contenttype.GetAcceptableMediaTypeFromHeader(accept[0], []contenttype.MediaType{contenttype.NewMediaType(typeTrace)})
	return err == nil
}

// document answers with the answer itself, and with every step that led to it.
func (a *Answers) document(ctx context.Context, q Question) (message.Reply, error) {
	trace := resolver.TraceOf(ctx)
	if trace == nil {
		ctx, trace = resolver.WithTrace(ctx, a.config.Now)
	}
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err != nil {
		return message.Reply{}, &problem.Failure{Err: err, Input: q.Query.URI.String(), Trace: trace.Steps()}
	}
	reply := message.JSON(http.StatusOK, a.withHealth(api.NewAnswer(q.Query, answer, trace.Steps())))
	reply.Vary, reply.Cache = "Accept", answer.Cache
	if wantsTrace(q.Header) {
		reply.ContentType = typeTrace
	}
	return reply, nil
}

// withHealth adds what is known of the servers of locations.
func (a *Answers) withHealth(document api.Answer) api.Answer {
	for i := range document.Locations {
		document.Locations[i].Failing = a.config.Failing(document.Locations[i].URI)
	}
	return document
}
