package proxy

import (
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
)

// servePage answers with a page of this server that is about no name.
func (x *exchange) servePage() error {
	if docs := x.ask.Target.Docs; docs != nil {
		return x.serveDocs(docs)
	}
	asked := x.ask.Target.Namespaces
	if asked == nil {
		x.reply(x.home(false))
		return nil
	}
	if asked.NID == "" {
		x.reply(answer.Namespaces(x.writer().Namespaces(asked.Search, asked.After)))
		return nil
	}
	page, ok := x.writer().Namespace(asked.NID)
	if !ok {
		return &problem.Failure{Err: problem.ErrNoPage, Input: "urn:" + asked.NID}
	}
	x.reply(answer.Namespaces(page))
	return nil
}

// serveDocs answers with a page about the API.
func (x *exchange) serveDocs(asked *route.Docs) error {
	reply, err := x.handler.docs.Reply(x.writer(), asked.Slug, x.base())
	if err != nil {
		return &problem.Failure{Err: err, Input: route.PathDocs + "/" + asked.Slug}
	}
	x.reply(reply)
	return nil
}
