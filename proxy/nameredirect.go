package proxy

import (
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// isPlainName reports whether a target asks for the location of a URN, or of a name of a web host, and the reply is nothing but a
// redirect.
func isPlainName(t *route.Target) bool {
	return (t.Query.IsURN() || t.Form == route.FormHost) && t.Query.Service == resolver.I2L && !t.Identified &&
		t.Form != route.FormAPI && t.Form != route.FormMemento
}

// redirectFields are the fields that all redirects of names have, with their line ends.
type redirectFields struct {
	cors, vary string
	// anyOrigin is whether a request with Origin has the same ones.
	anyOrigin bool
	// describes is whether some names answer with their descriptions, by Accept.
	describes bool
}

func redirectFieldsOf(cors answer.CORS, describes bool) (f redirectFields) {
	f.describes = describes
	f.cors, f.vary, f.anyOrigin = cors.Fields()
	f.vary += "Vary: Accept\r\n"
	return f
}

// mayDiffer reports whether a request with these fields may get another reply of a name than a redirect with these fields.
func (f *redirectFields) mayDiffer(lines httpmessage.Lines) bool {
	return answer.MayWantDocument(lines.List("Accept"), f.describes) || !f.anyOrigin && lines.Has("Origin")
}

// isPlainLink reports whether a request for an identifier in a web address means its default link whatever it has: also of other names.
func isPlainLink(a *route.Ask, accept string) bool {
	_, hasQuery := a.Target.Query.URI.Query()
	return !a.IsLink || !hasQuery && !answer.MayWantLinks(accept)
}

// appendLinks appends the Link field of a redirect of a name.
func appendLinks(dst []byte, a *route.Ask, base, name string) []byte {
	if a.IsLink {
		return answer.AppendIdentifierLinks(dst, base, name)
	}
	return answer.AppendLinks(dst, base, name)
}

// answerName answers a plain request for the location of a name that takes more than a redirect, by the answer for it.
func (x *exchange) answerName(found resolver.Answer, err error) error {
	t, answers := &x.ask.Target, x.handler.answers
	q := &answer.Question{Target: t, Lines: x.lines, HTTP11: true, IsName: true, Base: x.base()}
	switch {
	case x.ask.IsLink: // it may have links although it leads nowhere
		reply, err := answers.Identified(q, found, err)
		if err == nil {
			x.reply(reply)
		}
		return err
	case err != nil:
		return problem.About(err, t.Query.URI)
	default:
		x.reply(answers.Redirect(q, found))
		return nil
	}
}

// redirectName redirects a plain request for the location of a name, and reports whether it was one. What it sends is what reply
// would send, made as FastPath makes it, without fields in between: those cost more than to find the name.
func (x *exchange) redirectName() (isPlain bool, err error) {
	t, h := &x.ask.Target, x.handler
	out, ok := x.ResponseWriter.(*fast.Response)
	isPlain = isPlainName(t) && t.Text == "" && !t.Query.HasComponents()
	if !ok || !out.TakesWhole() || !isPlain || h.fields.mayDiffer(x.lines) || !isPlainLink(&x.ask, x.lines.List("Accept")) {
		return false, nil
	}
	found, err := h.config.Resolver.Resolve(x.ctx, t.Query)
	record := found.Record()
	location, ok := h.answers.Choice(found.Locations)
	isPlain = err == nil && ok && (record == nil || !record.Sandbox && len(record.Successors) == 0)
	if !isPlain {
		return true, x.answerName(found, err)
	}
	x.event.Cache, x.event.Status, x.event.Type = found.Cache.String(), answer.RedirectStatus(t.Form, true, record), pages.ContentType
	x.answered(record)
	x.body = pages.AppendMoved(x.body[:0], location)
	name := found.Name.String()
	x.links = appendLinks(x.links[:0], &x.ask, x.base(), name)
	if x.in.method != http.MethodHead {
		x.event.Bytes = int64(len(x.body))
	}
	octets, date := out.Room()
	reply := message.FastRedirect{
		Status: x.event.Status, Location: location, ContentType: pages.ContentType, TTL: found.TTL, Lifetime: found.Lifetime(),
		Shared: found.SharedLifetime(), Tags: h.config.Tags, Name: name, Link: x.links, CORS: h.fields.cors, Vary: h.fields.vary,
		Cache: found.Cache, RequestID: x.event.ID, Date: date, Body: x.body, IsHead: x.in.method == http.MethodHead,
	}
	out.WriteWhole(x.event.Status, reply.AppendTo(octets))
	return true, nil
}
