package proxy

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// page returns the reply with a page of this server that is not about a name.
func (x *exchange) page(requested *route.Target) (message.Reply, error) {
	lists := &x.handler.config.Lists
	switch {
	case requested.Names != nil:
		s := requested.Names.Search
		s.Client, s.All = x.client.Addr, x.handler.gate.MayBrowseAll(&x.client, &x.request)
		return lists.Names(x.ctx, x.writer(), requested.Names, s, x.handler.config.Access.SameListForAll())
	case requested.Docs != nil:
		return x.docs(requested.Docs)
	case requested.Sitemap != nil:
		return lists.Sitemap(x.ctx, requested.Sitemap, x.client.Addr)
	case requested.Namespaces == nil:
		return x.home(false), nil
	case requested.Namespaces.NID == "":
		return answer.Namespaces(x.writer().Namespaces(requested.Namespaces.Search, requested.Namespaces.After)), nil
	default:
		return x.namespace(requested.Namespaces.NID)
	}
}

// home returns the front page. isHost is whether it is that of a web host whose paths are names.
func (x *exchange) home(isHost bool) message.Reply {
	if isHost || x.request.UnknownHost || !x.handler.config.Access.MayProxy(&x.client) {
		return answer.Home(x.base(), x.writer().Home(isHost))
	}
	reply := answer.Home(x.base(), x.writer().ForFetching().Home(false))
	reply.CacheControl = "private" // clients without the right to the proxy get no links to /fetch
	return reply
}

// namespace returns the reply with the page of a namespace.
func (x *exchange) namespace(nid string) (message.Reply, error) {
	names := int64(pages.UnknownCount)
	if count := x.handler.config.Lists.Count; count != nil {
		if n, ok := count(x.ctx, "urn:"+strings.ToLower(nid)); ok {
			names = n
		}
	}
	page, ok := x.writer().Namespace(nid, names)
	if !ok {
		return message.Reply{}, &problem.Failure{Err: problem.ErrNoPage, Input: "urn:" + nid}
	}
	return answer.Namespaces(page), nil
}

// docs returns the reply with a page about the API.
func (x *exchange) docs(requested *route.Docs) (message.Reply, error) {
	reply, err := x.handler.docs.Reply(x.writer(), requested.Slug, x.base())
	if err != nil {
		return message.Reply{}, &problem.Failure{Err: err, Input: route.PathDocs + "/" + requested.Slug}
	}
	return reply, nil
}

// preview answers a browser's request for an unknown name that ends with a preview suffix, "+" or "?preview", with the
// page about the name without the suffix, if that is known. It reports whether it did. Programs get the error.
func (x *exchange) preview(err error) bool {
	t := &x.request.Target
	if t.Preview != route.PreviewIfUnknown || !isUnknown(err) || !problem.PrefersHTML(x.header) {
		return false
	}
	page, ok := t.PreviewTarget()
	if !ok {
		return false
	}
	reply, ok := x.handler.answers.Preview(x.ctx, &answer.Request{
		Target: &page, Header: x.header, HTTP11: x.in.AtLeast(1, 1), IsName: true, Base: x.base(),
	})
	if ok {
		x.reply(reply)
	}
	return ok
}

// isUnknown reports whether an error says that the name does not exist or cannot exist.
func isUnknown(err error) bool {
	var n *resolver.Negative
	if errors.As(err, &n) {
		return n.Record == nil && (errors.Is(n, resolver.ErrNotFound) || errors.Is(n, resolver.ErrUnsupported))
	}
	return errors.As(err, new(*uri.ParseError))
}
