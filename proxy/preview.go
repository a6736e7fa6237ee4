package proxy

import (
	"errors"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// preview answers a request for a name that is not known with the page about that without what it ends with, a "+" or "?preview", where
// that is known; it reports whether it did. Programs get the error, and a name that is known is answered as ever.
func (x *exchange) preview(err error) bool {
	t := &x.ask.Target
	if t.Preview != route.PerhapsPreviewed || !isUnknown(err) || !problem.PrefersHTML(x.lines) {
		return false
	}
	page, ok := t.Previewed()
	if !ok {
		return false
	}
	reply, ok := x.handler.answers.Preview(x.ctx, &answer.Question{
		Target: &page, Lines: x.lines, HTTP11: x.in.AtLeast(1, 1), IsName: true, Base: x.base(),
	})
	if ok {
		x.reply(reply)
	}
	return ok
}

// isUnknown reports whether an error says that there is no such name, or that there cannot be one.
func isUnknown(err error) bool {
	var n *resolver.Negative
	if errors.As(err, &n) {
		return n.Record == nil && (errors.Is(n, resolver.ErrNotFound) || errors.Is(n, resolver.ErrUnsupported))
	}
	return errors.As(err, new(*uri.ParseError))
}
