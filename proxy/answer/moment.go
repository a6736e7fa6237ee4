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

// What a site knows of how its names were, by RFC 7089 pattern 2 (section 4.2): a name redirects as ever, and its TimeGate, its TimeMap and its
// mementos are resources of their own. A memento is the redirect itself, or the answer that there was none (section 4.5.4).

// past is how a name was: its versions, in a question about it.
type past struct {
	*Question
	resolver.Versions
}

// moment answers a question about how a name was.
func (a *Responder) moment(ctx context.Context, q *Question) (message.Reply, error) {
	versions, err := a.versions(ctx, q.Query)
	p := &past{q, versions}
	switch q.Moment.Role {
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
	return message.Reply{}, problem.About(err, q.Query.URI)
}

// versions returns the versions of a name.
func (a *Responder) versions(ctx context.Context, q resolver.Query) (resolver.Versions, error) {
	if a.config.History == nil {
		return resolver.Versions{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no registry here knows how names were"}
	}
	return a.config.History.Versions(ctx, q)
}

// at returns the index of the version that a name had at a time: the first one for what was before.
func (p *past) at(when time.Time) int {
	later := sort.Search(len(p.Times), func(i int) bool { return p.Times[i].After(when) })
	return max(later-1, 0)
}

// timeGate leads to how a name was at the time of Accept-Datetime; without that, to how it is (RFC 7089 section 4.1).
func (p *past) timeGate() (message.Reply, error) {
	index := len(p.Times) - 1
	if text := p.Lines.Value(fieldDatetime); text != "" {
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
func (p *past) leadsTo(index int) message.Reply {
	location := p.mementoURL(p.Times[index])
	return message.Reply{
		Status: http.StatusFound, Location: location, ContentType: pages.ContentType, Body: pages.Moved(location),
		CacheControl: message.MaxAge(p.Lifetime()), Shared: p.SharedLifetime(), Fields: httpmessage.FieldsOf("Link", p.links(index)),
	}
}

// memento answers as a name did at a time: of one between two versions it leads to the one before, whose URI stays.
func (a *Responder) memento(ctx context.Context, p *past) (message.Reply, error) {
	at := p.Moment.At
	index := p.at(at)
	if !p.Times[index].Equal(at) {
		return p.leadsTo(index), nil
	}
	q := *p.Target
	q.Query.At, q.Query.Service = resolver.Then(at), resolver.I2L
	reply, err := a.then(ctx, &Question{Target: &q, Lines: p.Lines, HTTP11: p.HTTP11, Base: p.Base})
	if err != nil {
		return message.Reply{}, err
	}
	reply.AddLink(p.links(index))
	reply.Fields.Set("Memento-Datetime", at.Format(http.TimeFormat))
	return reply, nil
}

// then answers a question about a time as it would have been answered then, also that the name led nowhere. That it leads nowhere any more,
// so that how it was is not shown, is an error.
func (a *Responder) then(ctx context.Context, q *Question) (message.Reply, error) {
	answer, err := a.config.Resolver.Resolve(ctx, q.Query)
	if err == nil {
		return withRecord(a.Redirect(q, answer), q.Base, answer.Record()), nil
	}
	record := resolver.RecordOf(err)
	err = problem.About(err, q.Query.URI)
	if record == nil || record.Changed.After(q.Query.At) {
		return message.Reply{}, err
	}
	reply := withRecord(problem.Reply(a.config.Pages, q.Lines, err), q.Base, record)
	reply.Failure, reply.Record = err, record
	return reply, nil
}
