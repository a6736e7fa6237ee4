package answer

import (
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// explanation replies with the page of the resolution trace of a name, for an answer or an error. Its steps
// are those of the JSON document.
func (a *Responder) explanation(q *Request, answer resolver.Answer, err error, steps []resolver.Step) message.Reply {
	name := q.Query.URI.String()
	e := pages.Explanation{
		Name: name, IsAddress: isAddress(name), Steps: steps, Path: route.PathExplain,
		Query: pages.ExplainQuery(name, serviceInQuery(q)) + timeInQuery(q),
	}
	if len(name) <= maxPageLinked {
		e.About = string(route.AppendServiceURL(nil, "", describes, formatHTML, name))
	}
	for _, l := range answer.Links()[:min(len(answer.Links()), maxPageTargets)] {
		if resolver.RelationResolves(l.Rel) {
			e.Targets = append(e.Targets,
				pages.Target{
					URI: l.URI, Title: l.Title, Type: l.Type, Language: l.Language, Rel: l.Rel,
					Failing: a.config.Failing(l.URI),
				})
		}
	}
	reply := message.Reply{
		Status: http.StatusOK, Vary: "Accept", CacheControl: message.NoStore, Cache: answer.Cache,
		Record: answer.Record(),
	}
	if err != nil {
		failure := &problem.Failure{Err: err, Input: name}
		document := problem.New(failure)
		e.Problem = &document
		reply = problem.Reply(a.config.Pages, nil, failure)
		reply.Failure = err
	}
	return reply.WithPage(message.Page(a.writer(q).Explain(&e)))
}

// serviceInQuery returns the service as a query parameter, "" for the default service I2L.
func serviceInQuery(q *Request) string {
	if q.Query.Service == resolver.I2L {
		return ""
	}
	return q.Query.Service.String()
}

// timeInQuery returns the query parameter of the time as of which a name is resolved, "" for the current
// time.
func timeInQuery(q *Request) string {
	if q.Query.At.IsZero() {
		return ""
	}
	return "&at=" + q.Query.At.UTC().Format("2006-01-02T15:04:05Z")
}

// showsTrace reports whether the steps of a resolution are requested as a page.
func showsTrace(q *Request) bool {
	return q.Explains && q.Format != "json" && !wantsTrace(q.Header) && problem.PrefersHTML(q.Header)
}
