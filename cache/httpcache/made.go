package httpcache

import (
	"net/http"

	"github.com/urnd/urnd/internal/httpmessage"
)

// control returns the directives of a response, which may use the memory of the exchange.
func (x *exchange) control(fields httpmessage.Fields) control {
	var targeted []string
	if x.r.Gateway {
		targeted = x.cache.config.Targeted
	}
	return controlOf(targeted, fields, x.directives[:0])
}

// unkeyed returns the fields of the request that could have made its response, and are in no key.
func (x *exchange) unkeyed() []string {
	if !x.hasUnkeyed {
		x.unkeyedNames, x.hasUnkeyed = x.cache.safelist.unkeyed(&x.r.Request, x.r.Added), true
	}
	return x.unkeyedNames
}

// toStore returns what is stored of the response to the request, without its content; nil for nothing.
func (x *exchange) toStore(got *httpmessage.Response, control control, at arrival) *stored {
	r, c := x.r, x.cache
	switch {
	case r.Pass, c.config.Store == nil:
		return nil
	case r.Method == http.MethodPost && !x.storesPost(got, control):
		return nil
	case r.Method != http.MethodPost && (r.Method != http.MethodGet || r.Body != nil): // a cache does not know what the content of GET means
		return nil
	case !mayStoreResponse(&r.Request, x.asked, control.Directives, got):
		return nil
	}
	s := x.newStored(got, control, at)
	if s == nil || !isForOthers(&r.Request, x.unkeyed(), got, s.explicit) {
		return nil
	}
	return s
}

// newStored returns what is stored of a response, without its content; nil for a part whose place is not known.
func (x *exchange) newStored(got *httpmessage.Response, control control, at arrival) *stored {
	known, ok := newResponse(x.r.Spelling, x.r.Fields, got, control, x.cache.config.Heuristic, at)
	if !ok {
		return nil
	}
	return &stored{record: record{response: known, basis: x.cache.config.Basis, uses: new(uses)}}
}

// storesPost reports whether the response to a POST is stored for GET: its Content-Location is the URI of the request.
func (x *exchange) storesPost(got *httpmessage.Response, control control) bool {
	location := got.Fields.Value("Content-Location")
	if location == "" || !postIsStored(control.Directives, got) {
		return false
	}
	key, same := x.cache.config.Same(x.r.Key, location)
	return same && key == x.r.Key && x.r.Spelling == "" // of another spelling it is not known which one it names
}

// updated returns a stored response with the fields of an update, a 304 or the response to a HEAD, in place of its own, and its
// selectors and content; verdict is whether it may be stored in place of that.
func (x *exchange) updated(s *stored, got *httpmessage.Response, at arrival) (updated *stored, verdict updateVerdict) {
	update := &httpmessage.Response{
		Status: s.status, Reason: s.reason, Fields: updatedFields(s.header, got.Fields), From: got.From, Private: got.Private,
	}
	control := x.control(update.Fields)
	updated = x.newStored(update, control, at)
	updated.selectors, updated.content, updated.part, updated.length, updated.saved = s.selectors, s.content, s.part, s.length, s.saved
	switch {
	case !isStorable(control.Directives, update):
		return updated, updateRemoves
	case mayUpdate(&x.r.Request, x.unkeyed(), x.asked, control.Directives, update, updated.explicit):
		return updated, updateReplaces
	default:
		return updated, updateKeeps
	}
}

// updateVerdict is what an update does to what is stored.
type updateVerdict uint8

const (
	updateKeeps    updateVerdict = iota // it is for its client alone
	updateReplaces                      // it is for all
	updateRemoves                       // it says that nothing is to be stored
)
