package proxy

import (
	"strings"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// page returns the reply with a page of this server that is about no name.
func (x *exchange) page(asked *route.Target) (message.Reply, error) {
	lists := &x.handler.config.Lists
	switch {
	case asked.Names != nil:
		s := asked.Names.Search
		s.Client, s.All = x.client.Addr, x.handler.gate.MayBrowseAll(&x.client, &x.ask)
		return lists.Names(x.ctx, x.writer(), asked.Names, s, x.handler.config.Access.IsListedForAll())
	case asked.Docs != nil:
		return x.docs(asked.Docs)
	case asked.Sitemap != nil:
		return lists.Sitemap(x.ctx, asked.Sitemap, x.client.Addr)
	case asked.Namespaces == nil:
		return x.home(false), nil
	case asked.Namespaces.NID == "":
		return answer.Namespaces(x.writer().Namespaces(asked.Namespaces.Search, asked.Namespaces.After)), nil
	default:
		return x.namespace(asked.Namespaces.NID)
	}
}

// home returns the front page, also where a web host whose paths are names has it.
func (x *exchange) home(isHost bool) message.Reply {
	if isHost || x.ask.IsMisnamed || !x.handler.config.Access.MayProxy(&x.client) {
		return answer.Home(x.base(), x.writer().Home(isHost))
	}
	reply := answer.Home(x.base(), x.writer().ForFetching().Home(false))
	reply.CacheControl = "private" // others do not get the links to /fetch
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
func (x *exchange) docs(asked *route.Docs) (message.Reply, error) {
	reply, err := x.handler.docs.Reply(x.writer(), asked.Slug, x.base())
	if err != nil {
		return message.Reply{}, &problem.Failure{Err: err, Input: route.PathDocs + "/" + asked.Slug}
	}
	return reply, nil
}
