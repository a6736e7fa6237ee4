package httpcache

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// ErrUnexpectedNotModified means that an origin answered 304 to an unconditional request.
var ErrUnexpectedNotModified = errors.New("the origin answered 304 (Not Modified) to a request without a condition")

// originRequest is the request of an exchange to its origin.
type originRequest struct {
	fields httpmessage.Fields
	// nominated are the stored responses that it asks to validate: RFC 9111 section 4.3.1.
	nominated []*stored
	// beginning is a stored part from byte 0 on, whose rest is requested: RFC 9111 section 3.3.
	beginning *stored
	// ownConditions is whether it has the conditions of the client.
	ownConditions bool
}

// originRequest returns the request of the exchange to its origin.
func (x *exchange) originRequest() originRequest {
	s, request := x.selected, x.r.Fields
	switch {
	case x.private:
		return originRequest{fields: request, ownConditions: rules.Conditional(request)}
	case x.unconditional:
		return originRequest{fields: rules.WithoutConditions(request)}
	case x.completes(s):
		return originRequest{fields: rules.RestFields(request, &s.Response), beginning: s}
	case s != nil && !s.Partial() && s.HasValidator():
		return originRequest{fields: rules.ValidationFields(request, []*stored{s}), nominated: []*stored{s}}
	case x.entry != nil && s == nil: // RFC 9111 section 4.3.1: another variant may be valid
		if tagged := x.entry.tagged(x.r); len(tagged) > 0 {
			return originRequest{fields: rules.ValidationFields(request, tagged), nominated: tagged}
		}
	}
	switch {
	case !rules.Conditional(request):
		return originRequest{fields: request}
	case x.fetchesWhole():
		return originRequest{fields: rules.WithoutConditions(request)}
	default:
		return originRequest{fields: request, ownConditions: true}
	}
}

// fetchesWhole reports whether the conditions of the client are not forwarded, so that a response can be stored: see
// storage.fetchWhole.
func (x *exchange) fetchesWhole() bool {
	forAll := !x.private && x.r.Method == http.MethodGet && !x.r.Fields.Has("Authorization")
	return forAll && x.entry != nil && x.entry.unconditional
}

// outgoing returns the request to the origin with these fields.
func (x *exchange) outgoing(fields httpmessage.Fields) Outgoing {
	o := Outgoing{Request: x.r.Request, Background: x.background}
	o.Fields = fields
	return o
}

// fetched is the response of the origin.
type fetched struct {
	originRequest
	*httpmessage.Response
	rules.Arrival
	valid *stored // the response that a 304 validates; nil for none
	// control are the directives of the response, set if valid is nil.
	control rules.Control
}

// fetch queries the origin. If the response is unusable, it queries a second time, for the whole and without
// conditions.
func (x *exchange) fetch(ctx context.Context) (*fetched, error) {
	for {
		a := &x.got
		*a = fetched{originRequest: x.originRequest()}
		a.Requested = x.cache.config.Now()
		response, err := x.origin.RoundTrip(ctx, x.outgoing(a.fields))
		if err != nil {
			return nil, err
		}
		a.Response, a.Received = response, x.cache.config.Now()
		if a.useful() {
			if a.valid == nil {
				a.control = x.control(a.Response, a.beginning)
			}
			return a, nil
		}
		_ = response.Body.Close()
		if x.unconditional {
			return nil, ErrUnexpectedNotModified
		}
		x.unconditional = true
	}
}

// useful reports whether a response answers the request to the origin. A response with the rest of a stored
// beginning becomes the complete response.
func (a *fetched) useful() bool {
	switch {
	case a.Status == http.StatusNotModified && len(a.nominated) > 0:
		a.valid = rules.Validated(a.Fields, a.nominated)
		return a.valid != nil
	case a.Status == http.StatusNotModified:
		return a.ownConditions
	case a.beginning != nil && a.Status == http.StatusPartialContent:
		whole := a.beginning.continued(a.Response)
		if whole != nil {
			a.Response = whole
		}
		return whole != nil
	default: // to a range request the origin may respond otherwise than to the client's own request
		return a.beginning == nil || a.Status == http.StatusOK
	}
}

// lead makes an exchange with the origin, and answers by it. Other requests may wait for it.
func (x *exchange) lead(ctx context.Context, f *flight) (*Response, error) {
	f.exchange.Begin(ctx)
	f.watch = lifetime.Notify(ctx, f)
	returned := false
	defer func() {
		if !returned { // a panic
			f.exchange.End(body.ErrAbandoned)
			f.fail()
		}
		f.leave()
		if !f.passedThrough {
			f.watch.Stop()
		}
	}()
	a, err := x.retrieve(ctx, f)
	returned = true
	return a, err
}

// retrieve queries the store shared with other processes, then the origin, and answers by the response.
func (x *exchange) retrieve(ctx context.Context, f *flight) (*Response, error) {
	if s := x.findShared(ctx, f); s != nil {
		f.exchange.End(nil)
		f.finish(s)
		return x.answer(ctx, s, Outcome{Detail: "shared"}, false)
	}
	got, err := x.fetch(f.exchange) //nolint:contextcheck // ends when no client waits for it
	switch {
	case err != nil:
		return x.failed(ctx, f, err)
	case got.valid != nil:
		return x.validated(ctx, f, got)
	case x.replacesError(got):
		f.exchange.End(body.ErrAbandoned)
		_ = got.Body.Close()
		f.fail()
		return x.stale(ctx)
	default:
		return x.receive(ctx, f, got)
	}
}

// errReplaced means that the origin responded with an error, and a stored response replaces it.
var errReplaced = errors.New("the origin answered with an error")

// failed answers after a failure to reach the origin, from the stored response if permitted.
func (x *exchange) failed(ctx context.Context, f *flight, err error) (*Response, error) {
	f.exchange.End(err)
	f.fail()
	if cause := lifetime.Cause(ctx); cause != nil {
		return nil, cause
	}
	if x.mayUseStale(err) {
		return x.stale(ctx)
	}
	return nil, err
}

// replacesError reports whether the stored response is used in place of an error: RFC 5861 section 4, RFC 9111
// section 4.3.3. It is not if the error has an explicit freshness lifetime: then the error is a response to
// store.
func (x *exchange) replacesError(got *fetched) bool {
	switch got.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return x.mayUseStale(errReplaced) && !x.explicitlyFresh(got)
	default:
		return false
	}
}

// explicitlyFresh reports whether a response is storable, and fresh by an explicit lifetime.
func (x *exchange) explicitlyFresh(got *fetched) bool {
	s, _ := x.toStore(got.Response, got.control, got.Arrival)
	return s != nil && s.Explicit && s.TTL(x.cache.config.Now()) > 0
}

// validated answers by the stored response that a 304 validates, and stores it with the fields of the 304: RFC
// 9111 section 4.3.4.
func (x *exchange) validated(ctx context.Context, f *flight, got *fetched) (*Response, error) {
	f.exchange.End(nil)
	_ = got.Body.Close()
	s := got.valid
	fresh, verdict, why := x.updated(s, got.Response, got.Arrival)
	if s != x.selected {
		fresh.Selectors = rules.UpdatedSelectors(s.SelectorsFor(x.r.Fields), fresh.Fields, x.r.Fields)
	}
	outcome := x.outcome
	outcome.OriginStatus, outcome.NotStored = http.StatusNotModified, why
	switch verdict {
	case updateRemoves:
		x.cache.storage.remove(x.r.Key, s)
		x.cache.shared.remove(x.r.Key, s)
		f.finish(nil)
	case updateKeeps:
		f.finish(nil)
	case updateReplaces:
		outcome.Stored = true
		f.validated = s
		if s == x.selected {
			f.updates = s
		}
		f.finish(fresh)
	}
	a, err := x.answer(ctx, fresh, outcome, true)
	if cookies := got.Fields.Values("Set-Cookie"); err == nil && len(cookies) > 0 { // for the leader only
		a.Fields = rules.Without(a.Fields, "Set-Cookie")
		for _, cookie := range cookies {
			a.Fields.Add("Set-Cookie", cookie)
		}
	}
	return a, err
}

// receive answers by a response while it arrives, and stores it if permitted.
func (x *exchange) receive(ctx context.Context, f *flight, got *fetched) (*Response, error) {
	response := got.Response
	if x.r.Method == http.MethodHead {
		s := x.updateByHead(f, response, got.Arrival)
		f.finish(nil)
		if s != nil {
			f.exchange.End(nil)
			_ = response.Body.Close()
			return x.answer(ctx, s, x.outcome, true)
		}
		return x.passThrough(f, response), nil
	}
	s, why := x.toStore(response, got.control, got.Arrival)
	if s != nil {
		return x.arriving(ctx, f, got, s)
	}
	x.outcome.NotStored = why
	return x.notStored(f, got.control, response), nil
}

// notStored answers by a response that only this client receives.
func (x *exchange) notStored(f *flight, control rules.Control, response *httpmessage.Response) *Response {
	shared := f.shared()
	f.finish(nil)
	if x.fetchesWhole() && response.Status < http.StatusBadRequest {
		x.cache.storage.forwardConditions(x.r.Key)
	}
	switch {
	case x.private, x.r.Fields.Has("Authorization"): // other clients do not send the same request
	case response.Status == http.StatusNotModified:
		x.cache.storage.fetchWhole(x.r.Key)
	case response.Status >= http.StatusBadRequest: // other clients may get another response
	case control.Has("private"), control.Has("no-store"), x.outcome.NotStored == rules.ReasonOverride,
		shared && x.notForAny(response):
		x.doNotCollapse()
	}
	return x.passThrough(f, response)
}

// notForAny reports whether the reason not to store a response is the response itself, or the cookies that all its
// followers send too, rather than another field of this request.
func (x *exchange) notForAny(response *httpmessage.Response) bool {
	return x.r.Fields.Has("Cookie") ||
		rules.MayShare(&x.r.Request, x.unkeyed(), response, true) == rules.ReasonNone
}

// mayUseStale reports whether the stored response may be used after a failure to reach the origin.
func (x *exchange) mayUseStale(err error) bool {
	return x.selected != nil && x.covers(x.selected) && !errors.Is(err, context.Canceled) &&
		x.selected.UsableOnError(x.requested, x.cache.config.Now(), x.cache.config.StaleFor)
}

// stale answers by the stale stored response.
func (x *exchange) stale(ctx context.Context) (*Response, error) {
	return x.answer(ctx, x.selected, Outcome{Detail: "stale-on-error"}, false)
}

// findShared returns a fresh response for the request from the shared store, nil for none. If there is none and the
// response may be shared, it lets the flight share what it stores.
func (x *exchange) findShared(ctx context.Context, f *flight) *stored {
	c := x.cache
	forAll := !x.private && x.r.Method == http.MethodGet && !x.r.Fields.Has("Authorization")
	if c.shared.objects == nil || !forAll || !webKey(x.r.Key) {
		return nil
	}
	f.share = c.shared.objects.Begin()
	if !x.asksShared() {
		return nil
	}
	s, started := c.shared.get(ctx, sharedPlace(x.r.Key, x.r.Spelling, nil))
	if s != nil && !s.Matches(x.r.Fields.Values) {
		s, started = c.shared.get(ctx, sharedPlace(x.r.Key, x.r.Spelling, s.SelectorsFor(x.r.Fields)))
	}
	if s == nil || !x.mayUseShared(s, started) {
		return nil
	}
	f.share = nil // already shared
	return s
}

// asksShared reports whether the shared store may have the response to a request: not if the origin must be
// queried, or if its responses are known to be for one client.
func (x *exchange) asksShared() bool {
	outdated := x.selected != nil && x.selected.Purged
	refuses := x.requested.HasMaxAge && x.requested.MaxAge == 0
	return !outdated && !refuses && x.collapses(x.collapseKey().collapseKind)
}

// mayUseShared reports whether a response of another process, whose request started at that time, answers the
// request: not if the local response is newer, even if that must be validated.
func (x *exchange) mayUseShared(s *stored, started time.Time) bool {
	c := x.cache
	older := x.selected != nil && started.Before(x.selected.Received) || c.shared.outdated.has(x.r.Key, started)
	return !older && s.Matches(x.r.Fields.Values) && s.Length <= c.config.MaxObject &&
		s.UseFor(x.requested, c.config.Now()) == rules.UseFresh
}
