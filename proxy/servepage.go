package proxy

import (
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/problem"
)

// servePage answers with a page of this server that is about no name.
func (x *exchange) servePage() error {
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
