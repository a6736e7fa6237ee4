package httpcache

import (
	"context"
	"errors"
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
)

// ErrUnasked means that an origin has answered 304 to a request without a condition.
var ErrUnasked = errors.New("the origin answered 304 (Not Modified) to a request without a condition")

// question is what the origin is asked for an exchange.
type question struct {
	fields httpmessage.Fields
	// nominated are the stored responses that it may say are still right: RFC 9111 section 4.3.1.
	nominated []*stored
	// begun is a stored part, the rest of which is asked for: section 3.3.
	begun *stored
	// isOwn is whether it has the conditions of the client.
	isOwn bool
}

// question returns what the origin is asked.
func (x *exchange) question() question {
	s, request := x.selected, x.r.Fields
	switch {
	case x.private:
		return question{fields: request, isOwn: isConditional(request)}
	case x.plain:
		return question{fields: withoutConditions(request)}
	case x.completes(s):
		return question{fields: restHeader(request, &s.response), begun: s}
	case s != nil && !s.isPartial() && s.hasValidator():
		return question{fields: validationHeader(request, []*stored{s}), nominated: []*stored{s}}
	case x.entry != nil && s == nil: // RFC 9111 section 4.3.1: perhaps another variant is right
		if tagged := x.entry.tagged(); len(tagged) > 0 {
			return question{fields: validationHeader(request, tagged), nominated: tagged}
		}
	}
	switch {
	case !isConditional(request):
		return question{fields: request}
	case x.entry != nil && x.entry.unconditional:
		return question{fields: withoutConditions(request)}
	default:
		return question{fields: request, isOwn: true}
	}
}

// outgoing returns the request to the origin, with some fields.
func (x *exchange) outgoing(fields httpmessage.Fields) Outgoing {
	o := Outgoing{Request: x.r.Request, Background: x.background}
	o.Fields = fields
	return o
}

// completes reports whether a request is for the whole of which a stored part is the beginning.
func (x *exchange) completes(s *stored) bool {
	return x.r.Method == http.MethodGet && !x.r.Fields.Has("Range") &&
		s != nil && s.isPartial() && s.part.start == 0 && isStrong(s.etag)
}

// fetched is what the origin has answered.
type fetched struct {
	question
	*httpmessage.Response
	arrival
	valid *stored // that a 304 says is still right; nil for none
	// control are the directives of the response, where valid is nil.
	control control
}

// fetch asks the origin, a second time where its answer is of no use: then for all, without a
// condition.
func (x *exchange) fetch(ctx context.Context) (*fetched, error) {
	for {
		a := &x.got
		*a = fetched{question: x.question()}
		a.requested = x.cache.config.Now()
		response, err := x.origin.Ask(ctx, x.outgoing(a.fields))
		if err != nil {
			return nil, err
		}
		a.Response, a.received = response, x.cache.config.Now()
		if a.isOfUse() {
			if a.valid == nil {
				a.control = x.control(a.Fields)
			}
			return a, nil
		}
		_ = response.Body.Close()
		if x.plain {
			return nil, ErrUnasked
		}
		x.plain = true
	}
}

// isOfUse reports whether a response answers what was asked. One to the request for the rest of a
// part becomes that of the whole.
func (a *fetched) isOfUse() bool {
	switch {
	case a.Status == http.StatusNotModified && len(a.nominated) > 0:
		a.valid = validated(a.Fields, a.nominated)
		return a.valid != nil
	case a.Status == http.StatusNotModified:
		return a.isOwn
	case a.begun != nil && a.Status == http.StatusPartialContent:
		whole := a.begun.continued(a.Response)
		if whole != nil {
			a.Response = whole
		}
		return whole != nil
	default: // to the request for the rest of a part an origin may answer what it does not to that of the client
		return a.begun == nil || a.Status == http.StatusOK
	}
}
