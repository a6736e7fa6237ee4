package proxy

import (
	"errors"
	"net/http"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// serve answers what was admitted. An error means that nothing was sent.
func (x *exchange) serve() error {
	switch a := &x.ask; a.Kind {
	case route.KindSite, route.KindForward:
		return x.serveForward()
	case route.KindTunnel:
		return x.serveTunnel()
	case route.KindPurge:
		return x.servePurge()
	case route.KindFetch:
		return x.suggest(x.unfetched(x.serveFetch()))
	case route.KindBatch:
		return x.serveBatch()
	case route.KindDocument:
		x.reply(x.document())
		return nil
	case route.KindSecure:
		x.reply(message.Reply{Status: http.StatusPermanentRedirect, Location: a.Location, CacheControl: "max-age=3600"})
		return nil
	default:
		return x.serveOwn()
	}
}

// serveOwn answers a question about an identifier, or with the front page.
func (x *exchange) serveOwn() error {
	a := &x.ask
	switch {
	case !a.IsGet:
		return problem.NotAllowed(a.Method, route.Methods(a.Path))
	case a.Err != nil:
		return x.suggest(a.Err)
	case a.Kind == route.KindPage:
		x.reply(message.Reply{Status: http.StatusOK, ContentType: pages.ContentType, Body: pages.Home()})
		return nil
	case x.leadsToFetch():
		x.reply(message.Reply{
			Status: http.StatusFound, Location: route.Fetched(a.Target.Query.URI.String()), CacheControl: message.NoStore, Vary: "Accept",
		})
		return nil
	}
	var reply message.Reply
	var err error
	if a.Retrieves {
		reply, err = x.retrieve()
	} else {
		reply, err = x.handler.answers.Reply(x.request.Context(), &answer.Question{
			Target: &a.Target, Lines: x.lines, HTTP11: x.request.ProtoAtLeast(1, 1),
		})
	}
	if err != nil {
		return x.suggest(err)
	}
	x.reply(reply)
	return nil
}

// leadsToFetch reports whether an address that a person typed on the front page is shown by /fetch: browsers
// do not know its scheme.
func (x *exchange) leadsToFetch() bool {
	a := &x.ask
	return a.Kind == route.KindRedirect && a.Target.Typed && problem.PrefersHTML(x.lines) &&
		x.handler.config.Schemes.IsBrowsable(a.Target.Query.URI.Scheme())
}

// document returns the reply to a request for a document that never changes.
func (x *exchange) document() message.Reply {
	h := x.handler
	if x.ask.Path == answer.PathSecurity {
		return answer.Security(h.config.SecurityContact, h.config.Now())
	}
	return h.statics[x.ask.Path].Reply(x.lines)
}

// serveBatch resolves many names in one request.
func (x *exchange) serveBatch() error {
	h := x.handler
	x.identify() // before its names fail in parallel
	rights := answer.BatchRights{
		// A page of another site has not the right of the address that its reader is at.
		URLs:     h.gate.MayProxy(x.request.Context(), &x.client, &x.ask) == nil && !x.lines.Has("Origin"),
		Allow:    func() bool { return h.gate.AllowsRate(x.client.Addr) },
		Asking:   x.asking,
		Report:   x.report,
		Answered: x.answered,
	}
	reply, err := h.answers.Batch(x.request.Context(), &answer.BatchRequest{
		Target: x.ask.Path, Lines: x.lines, Body: x.request.Body, SetReadDeadline: http.NewResponseController(x).SetReadDeadline,
	}, rights)
	if err == nil {
		x.reply(reply)
	}
	return err
}

// suggest adds to the error of a text what may have been meant: of one that is no identifier, of a name whose namespace nobody
// knows, or that has raw octets.
func (x *exchange) suggest(err error) error {
	return suggest(&x.ask, err, x.handler.config.Names)
}

// suggest is exchange.suggest.
func suggest(a *route.Ask, err error, names resolver.Names) error {
	t := &a.Target
	if a.Err != nil && t.Form == route.FormPath && t.Text != "" && !t.Identified {
		if t.IsPage() {
			err = problem.ErrNoPage
		}
		return &problem.Failure{Err: err, Input: t.Text, Typed: t.Text, Suggestions: names.Suggest(t.Text)}
	}
	if text, ok := rawName(t, err); ok {
		return &problem.Failure{Err: err, Input: text, Suggestions: names.Suggest(text)}
	}
	var n *resolver.Negative
	unknownScheme := errors.Is(err, resolver.ErrService) && !t.Query.IsURN()
	if t.Form != route.FormPath || !errors.As(err, &n) || !n.Unclaimed && !unknownScheme {
		return err
	}
	text := t.Query.URI.String()
	return &problem.Failure{Err: err, Input: text, Suggestions: names.Suggest(text)}
}
