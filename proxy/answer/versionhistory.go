package answer

import (
	"context"
	"net/http"
	"sort"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// Mementos of names, RFC 7089 pattern 2 (section 4.2): a name redirects according to its current version, and
// its TimeGate, TimeMap and mementos are separate resources. A memento is the redirect itself, or the former
// negative answer (section 4.5.4).

// versionHistory is a question about the history of a name, with its versions.
type versionHistory struct {
	*Request
	resolver.Versions
}

// mementoResource replies to a request for a TimeGate, a TimeMap or a memento.
func (a *Responder) mementoResource(ctx context.Context, q *Request) (message.Reply, error) {
	versions, err := a.versions(ctx, q.Query)
	p := &versionHistory{q, versions}
	switch q.Memento.Role {
	case route.RoleTimeGate:
		if err == nil {
			return p.timeGate()
		}
		return message.Reply{}, &problem.Failure{Err: err, Input: q.Query.URI.String(), Vary: fieldDatetime}
	case route.RoleTimeMap:
		if err == nil {
			return p.timeMap()
		}
	default:
		if err == nil {
			return a.memento(ctx, p)
		}
	}
	return message.Reply{}, problem.WithURI(err, q.Query.URI)
}

// versions returns the versions of a name.
func (a *Responder) versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	if a.config.History == nil {
		return resolver.Versions{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no registry with a history is configured"}
	}
	return a.config.History.Versions(ctx, q)
}

// at returns the index of the version as of a time: the first one for an earlier time.
func (p *versionHistory) at(when time.Time) int {
	later := sort.Search(len(p.Times), func(i int) bool { return p.Times[i].After(when) })
	return max(later-1, 0)
}

// timeGate redirects to the memento as of the time of Accept-Datetime, by default to the last one (RFC 7089
// section 4.1).
func (p *versionHistory) timeGate() (message.Reply, error) {
	index := len(p.Times) - 1
	if text := p.Header.Get(fieldDatetime); text != "" {
		when, err := http.ParseTime(text)
		if err != nil { // section 4.5.3
			return message.Reply{}, &problem.Failure{Err: problem.ErrDatetime, Vary: fieldDatetime}
		}
		index = p.at(when)
	}
	reply := p.leadsTo(index)
	reply.Vary = fieldDatetime
	return reply, nil
}

// leadsTo redirects to a memento.
func (p *versionHistory) leadsTo(index int) message.Reply {
	location := p.mementoURL(p.Times[index])
	return message.Reply{
		Status: http.StatusFound, Location: location, ContentType: pages.ContentType,
		Body: pages.RedirectBody(location), CacheControl: message.MaxAge(p.Lifetime()),
		SharedMaxAge: p.SharedLifetime(),
		Fields:       httpmessage.NewFields("Link", p.links(index)),
	}
}

// memento replies with the memento of a version. A time between two versions redirects to the earlier one,
// whose URI is stable.
func (a *Responder) memento(ctx context.Context, p *versionHistory) (message.Reply, error) {
	at := p.Memento.Datetime
	index := p.at(at)
	if !p.Times[index].Equal(at) {
		return p.leadsTo(index), nil
	}
	q := *p.Target
	q.Query.At, q.Query.Service = resolver.EndOfSecond(at), resolver.I2L
	reply, err := a.asOf(ctx, &Request{Target: &q, Header: p.Header, HTTP11: p.HTTP11, Base: p.Base})
	if err != nil {
		return message.Reply{}, err
	}
	reply.AddLink(p.links(index))
	reply.Fields.Set("Memento-Datetime", at.Format(http.TimeFormat))
	return reply, nil
}

// asOf replies as the name was resolved as of a time, including a former negative answer. If the name no
// longer resolves, so that its history is not public, it returns an error.
func (a *Responder) asOf(ctx context.Context, q *Request) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err == nil {
		return withRecord(a.Redirect(q, answer), q.Base, answer.Record()), nil
	}
	record := resolver.RecordOf(err)
	err = problem.WithURI(err, q.Query.URI)
	if record == nil || record.Changed.After(q.Query.At) {
		return message.Reply{}, err
	}
	reply := withRecord(problem.Reply(a.config.Pages, q.Header, err), q.Base, record)
	reply.Failure, reply.Record = err, record
	return reply, nil
}
