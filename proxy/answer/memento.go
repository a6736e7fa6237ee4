package answer

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Memento, RFC 7089: the description of a name as of a time, from the versions of the registry. The URI of
// the description is its own TimeGate (section 4.1.2), and the JSON API has the URIs of mementos.

// fieldDatetime is the request field that selects the description as of a time.
const fieldDatetime = "Accept-Datetime"

// atDatetime returns the question as of the time of Accept-Datetime, if the request has one.
func (a *Responder) atDatetime(ctx context.Context, q *Request) (*Request, error) {
	text := q.Header.Get(fieldDatetime)
	isDescription := q.Query.Service == resolver.I2C || q.Query.Service == resolver.I2Cs
	if text == "" || a.config.History == nil || !isDescription || !q.Query.At.IsZero() {
		return q, nil
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return nil, &problem.Failure{Err: problem.ErrDatetime, Vary: fieldDatetime}
	}
	versions, err := a.config.History.Versions(ctx, q.Query)
	switch {
	case err == nil && at.Before(versions.Times[0]): // the first memento is the closest
		at = resolver.EndOfSecond(versions.Times[0])
	case errors.As(err, new(*resolver.Negative)): // only the registry knows earlier times
		return q, nil
	case err != nil:
		return nil, problem.WithURI(err, q.Query.URI)
	}
	request := *q.Target
	request.Query.At = at
	then := *q
	then.Target = &request
	return &then, nil
}

// addMemento adds the header fields of a description of a canonical name, which may be as of an earlier time.
// The links of the mementos of the name itself have its URL as their context (RFC 8288 section 3.2).
func (a *Responder) addMemento(reply *message.Reply, q *Request, canonical string, record *resolver.Record) {
	if a.config.History == nil || record == nil {
		return
	}
	reply.Vary += ", " + fieldDatetime
	name := q.Query.URI.String()
	original := string(route.AppendServiceURL(nil, q.Base, describes, "", name))
	reply.AddLink(link(original, "original"))
	reply.AddLink(link(original, "timegate"))
	of := string(route.AppendNameURL(nil, q.Base, canonical))
	reply.AddLink(link(route.TimeGateURL(q.Base, canonical), "timegate", "anchor", of))
	reply.AddLink(link(route.TimeMapURL(q.Base, 0, canonical), "timemap", "anchor", of, "type", typeLinks))
	if q.Query.At.IsZero() {
		return
	}
	changed := record.Changed.UTC()
	memento := q.Base + route.PathResolve + "?at=" + url.QueryEscape(changed.Format(time.RFC3339Nano)) + "&uri=" +
		url.QueryEscape(name)
	reply.AddLink("<" + memento + `>; rel="memento"; datetime="` + changed.Format(http.TimeFormat) + `"`)
	reply.Fields.Set("Memento-Datetime", changed.Format(http.TimeFormat))
	reply.Fields.Set("Content-Location", memento)
}
