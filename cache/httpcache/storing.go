package httpcache

import (
	"context"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
)

// control returns the directives of a response, after the overrides of the site. It may use the memory of the
// exchange. before is the stored response that got updates or completes, nil for none.
func (x *exchange) control(got *httpmessage.Response, before *stored) rules.Control {
	var targeted []string
	if x.r.Gateway {
		targeted = x.cache.config.Targeted
	}
	control := rules.NewControl(targeted, got.Fields, x.directives[:0])
	control.SetsCookies = control.SetsCookies || before != nil && before.SetsCookies
	return control.Overridden(x.r.Overrides, &x.r.Request, got)
}

// unkeyed returns the names of the request fields that may have affected the response but are in no cache key.
func (x *exchange) unkeyed() []string {
	if !x.hasUnkeyed {
		x.unkeyedNames, x.hasUnkeyed = x.cache.safelist.Unkeyed(&x.r.Request, x.r.Added), true
	}
	return x.unkeyedNames
}

// toStore returns the response to store, without its content; nil and the reason if it is not stored.
func (x *exchange) toStore(
	got *httpmessage.Response, control rules.Control, at rules.Arrival,
) (s *stored, why rules.Reason) {
	r, c := x.r, x.cache
	switch {
	case r.Bypass, c.config.Store == nil:
		return nil, rules.ReasonNone // a bypass, not a reason in the response
	case r.Method == http.MethodPost && !x.storesPost(got, control):
		return nil, rules.ReasonMethod
	case r.Method != http.MethodPost && (r.Method != http.MethodGet || r.Body != nil):
		return nil, rules.ReasonMethod // RFC 9110 gives the content of a GET no meaning
	}
	if why = rules.MayStore(&r.Request, x.requested, control, got); why != rules.ReasonNone {
		return nil, why
	}
	if s = x.newStored(got, control, at); s == nil {
		return nil, rules.ReasonContentRange
	}
	if why = rules.MayShare(&r.Request, x.unkeyed(), got, s.Explicit); why != rules.ReasonNone {
		return nil, why
	}
	if !s.Reusable() {
		return nil, rules.ReasonFreshness
	}
	return s, rules.ReasonNone
}

// newStored returns a stored response without its content; nil for a part with an unknown position.
func (x *exchange) newStored(got *httpmessage.Response, control rules.Control, at rules.Arrival) *stored {
	known, ok := rules.NewResponse(x.r.Spelling, x.r.Fields, got, control, x.cache.config.Heuristic, at)
	if !ok {
		return nil
	}
	return &stored{Response: known, basis: x.cache.config.Basis, uses: new(uses)}
}

// storesPost reports whether the response to a POST is stored for GET: its Content-Location is the URI of the
// request.
func (x *exchange) storesPost(got *httpmessage.Response, control rules.Control) bool {
	location := got.Fields.Get("Content-Location")
	if location == "" || !rules.PostStorable(control.Directives, got) {
		return false
	}
	key, same := x.cache.config.SameOrigin(x.r.Key, location)
	return same && key == x.r.Key && x.r.Spelling == "" // with another spelling, the Content-Location is ambiguous
}

// updated returns the stored response with the fields of an update, which is a 304 or the response to a HEAD, and with
// its own content. Its selectors are its own, and those that the Vary of the update adds: RFC 9111 section 4.1. verdict
// says whether it replaces the stored response, and why not.
func (x *exchange) updated(
	s *stored, got *httpmessage.Response, at rules.Arrival,
) (updated *stored, verdict updateVerdict, why rules.Reason) {
	update := &httpmessage.Response{
		Status: s.Status, Reason: s.Reason, Fields: rules.UpdatedFields(s.Fields, got.Fields),
		RemoteAddr: got.RemoteAddr, Private: got.Private,
	}
	control := x.control(update, s)
	updated = x.newStored(update, control, at)
	updated.Selectors = rules.UpdatedSelectors(s.Selectors, updated.Fields, x.r.Fields)
	updated.Part, updated.Length = s.Part, s.Length
	updated.content, updated.saved = s.content, s.saved
	if why = rules.Storable(control, update); why != rules.ReasonNone {
		return updated, updateRemoves, why
	}
	why = rules.MayUpdate(&x.r.Request, x.unkeyed(), x.requested, control, update, updated.Explicit)
	if why != rules.ReasonNone {
		return updated, updateKeeps, why
	}
	return updated, updateReplaces, rules.ReasonNone
}

// updateVerdict is the effect of an update on the stored response.
type updateVerdict uint8

const (
	updateKeeps    updateVerdict = iota // the update is for its client alone
	updateReplaces                      // the update is for all clients
	updateRemoves                       // the update forbids storing
)

// arriving answers by a response while it arrives, and stores it, as whole, when it is complete.
func (x *exchange) arriving(ctx context.Context, f *flight, got *fetched, whole *stored) (*Response, error) {
	c, response := x.cache, got.Response
	arriving := x.newArriving(f, response, whole)
	b, s := &arriving.body, &arriving.head
	result := s
	f.live, f.awaited = response, b.Small() || response.ContentLength < 0
	fits := arriving.fits
	switch {
	case response.Status == http.StatusPartialContent, response.ContentLength == 0:
		result = nil // a part is not for others; an empty response needs no waiting
	case !fits, // the slowest client would slow down the others
		// Each follower has to request its own response: RFC 9111 section 4.
		s.UseFor(rules.RequestDirectives{}, c.config.Now()) == rules.MustValidate:
		result = nil
		if f.shared() {
			defer x.doNotCollapse()
		}
	}
	outcome := x.outcome
	outcome.Stored, outcome.TTL, outcome.HasTTL = fits, s.TTL(c.config.Now()), true
	if !fits {
		outcome.NotStored = rules.ReasonSize
		if x.fetchesWhole() {
			c.storage.forwardConditions(x.r.Key)
		}
	}
	reader := b.Join(ctx, rules.Span{Start: 0, End: -1})
	if !f.arrived() {
		result = nil // the exchange ends with the leader
	}
	if response.Body == http.NoBody { // a response without a body: nothing will be read
		b.FinishArrived()
	}
	f.publish(result)
	a := x.live(response, outcome, reader)
	if response.Status != http.StatusOK || x.r.Method != http.MethodGet {
		return a, nil
	}
	return x.fitted(ctx, a, s, got.ownConditions), nil
}

// newArriving returns a response in transfer, which the flight stores when it is complete.
func (x *exchange) newArriving(f *flight, got *httpmessage.Response, whole *stored) *arriving {
	c := x.cache
	a := &arriving{flight: f, whole: whole, fetchedWhole: x.fetchesWhole()}
	from := body.Source{
		Reader: got.Body, Length: got.ContentLength, MaxStored: c.config.MaxObject, Budget: &c.arriving, Owner: a,
		LeaderHalfClosed: f.ended, Finishes: x.r.Method == http.MethodGet,
	}
	if !whole.Partial() {
		from.Spool = body.NewSpool(c.config.Disk, f.key, got.ContentLength)
	}
	a.fits = from.Spool != nil || got.ContentLength <= c.config.MaxObject
	a.body.Begin(from)
	a.head = *whole
	a.head.content = &a.body
	return a
}

// updateByHead updates the selected stored response from the response to a HEAD, or, if the two differ,
// requires its validation: RFC 9111 section 4.3.5. It returns the updated response, nil for none.
func (x *exchange) updateByHead(f *flight, response *httpmessage.Response, at rules.Arrival) *stored {
	s := x.selected
	if s == nil || x.private || response.Status != http.StatusOK || s.Status != http.StatusOK {
		return nil
	}
	changed, verdict, _ := x.updated(s, response, at)
	if verdict != updateReplaces { // the response is for its client alone
		return nil
	}
	same := rules.ConsistentWithHead(&s.Response, response.Fields)
	if !same {
		changed = s.copied()
		changed.Purged = true
	}
	x.cache.storage.update(x.r.Key, func(e *Entry) *Entry {
		if !e.has(s) || f.wasForgotten() {
			return e // changed concurrently, or selected by a pending purge
		}
		return e.replacing(s, changed).with(changed, x.cache.config.MaxObject, x.cache.config.Now())
	})
	if !same {
		x.cache.shared.remove(x.r.Key, s)
		return nil
	}
	return changed
}
