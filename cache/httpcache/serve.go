package httpcache

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// ErrOnlyIfCached means that no stored response can be used, and the client accepts no other: RFC 9111 section
// 5.2.1.7.
var ErrOnlyIfCached = errors.New(
	"no usable stored response, and the client demands one (only-if-cached)",
)

// exchange is the state of a request that is being answered.
type exchange struct {
	cache     *Cache
	r         *Request
	origin    Origin
	requested rules.RequestDirectives
	outcome   Outcome
	selected  *stored // nil if no response matches
	entry     *Entry  // nil if nothing is stored
	// background is whether the client has been answered already.
	background    bool
	unconditional bool // the request to the origin has no conditions
	// private is whether the response is for this client alone: see forOneClient.
	private bool
	// unkeyedNames is the result of unkeyed, valid if hasUnkeyed is set.
	unkeyedNames []string
	hasUnkeyed   bool

	// Objects that most exchanges need once, in one allocation.
	own        flight
	got        fetched
	directives [4]cachecontrol.Directive // of the response
	answered   Response
	passed     body.PassThrough
}

// Serve answers a request from the cache, or by forwarding it to the origin.
func (c *Cache) Serve(ctx context.Context, r *Request, origin Origin) (*Response, error) {
	x := &exchange{cache: c, r: r, origin: origin}
	x.requested = rules.ParseRequest(r.Fields)
	a, err := x.serve(ctx)
	if errors.Is(err, body.ErrLost) { // retry without the lost response
		c.storage.forgetLost(r.Key)
		x = &exchange{cache: c, r: r, origin: origin, requested: x.requested}
		a, err = x.serve(ctx)
	}
	c.counts.add(a, err)
	return a, err
}

func (x *exchange) serve(ctx context.Context) (*Response, error) {
	if !x.r.retrieves() || x.r.Body != nil {
		return x.unsafe(ctx)
	}
	x.look()
	if reason := x.passes(); reason != "" {
		if x.requested.OnlyIfCached {
			return nil, ErrOnlyIfCached
		}
		return x.pass(ctx, reason)
	}
	reason, use := x.usable()
	switch {
	case reason == "" && use == rules.UseWhileRevalidating:
		x.refresh(ctx)
		return x.answer(ctx, x.selected, Outcome{Detail: "stale-while-revalidate"}, false)
	case reason == "":
		return x.answer(ctx, x.selected, Outcome{}, false)
	case x.requested.OnlyIfCached:
		return nil, ErrOnlyIfCached
	default:
		return x.load(ctx, reason)
	}
}

// passes returns why the request bypasses the cache, with a response for its client alone; "" if it does not.
func (x *exchange) passes() string {
	switch {
	case x.cache.config.Store == nil || x.r.Bypass:
		return fwdBypass
	case (x.requested.NoStore || rules.NeedsOrigin(x.r.Fields)) && !x.requested.OnlyIfCached:
		return fwdRequest
	default:
		return ""
	}
}

// look selects the stored response, reusing Request.Found if it is current.
func (x *exchange) look() {
	stored := x.r.Found.entry
	if !x.r.Found.current(x.cache) {
		stored = x.cache.storage.get(x.r.Key)
	}
	x.choose(x.cache.purges.apply(x.r.Key, stored))
}

// choose selects one of the responses of an entry, which may be nil.
func (x *exchange) choose(entry *Entry) {
	x.selected = nil
	if x.entry = entry.spelled(x.r.Spelling); x.entry != nil {
		if s := rules.Select(x.entry.variants, x.r.Spelling, x.r.Fields.Values); s != nil {
			x.selected = x.partFor(s)
		}
	}
}

// usable returns why the selected response cannot be used, "" if it can.
func (x *exchange) usable() (reason string, use rules.Use) {
	s := x.selected
	if s == nil {
		if x.entry != nil && len(x.entry.variants) > 0 {
			return fwdVaryMiss, rules.MustValidate
		}
		return fwdURIMiss, rules.MustValidate
	}
	if !x.covers(s) {
		return fwdPartial, rules.MustValidate
	}
	switch use = s.UseFor(x.requested, x.cache.config.Now()); use {
	case rules.MustValidate:
		return fwdStale, use
	case rules.MustReload:
		return fwdRequest, use
	default:
		return "", use
	}
}

// covers reports whether a stored response has all bytes that the request selects.
func (x *exchange) covers(s *stored) bool {
	if !s.Partial() {
		return true
	}
	if s.Length < 0 || !s.RangeApplies(x.r.Fields.Get(rules.IfRange)) {
		return false
	}
	requested := rules.ParseRanges(nil, x.r.Method, x.r.Fields.Values("Range"), s.Length)
	for _, part := range requested.Spans {
		if !s.Part.Contains(part) {
			return false
		}
	}
	return len(requested.Spans) > 0
}

// pass forwards a request whose response is not stored.
func (x *exchange) pass(ctx context.Context, reason string) (*Response, error) {
	response, err := x.origin.RoundTrip(ctx, Outgoing{Request: x.r.Request}) // ends with ctx
	if err == nil {
		err = x.unasked(response)
	}
	if err != nil {
		return nil, err
	}
	return x.live(response, Outcome{Forwarded: reason}, body.Live(response)), nil
}

// unasked returns an error if a response is a 304 although the request has no condition, and closes it.
func (x *exchange) unasked(response *httpmessage.Response) error {
	if response.Status != http.StatusNotModified || rules.Conditional(x.r.Fields) {
		return nil
	}
	_ = response.Body.Close()
	return ErrUnexpectedNotModified
}

// partFor returns s, the selected response, or, if s is a part that does not fit the request, another part of
// the same representation that covers it, or that begins the whole that it is for.
func (x *exchange) partFor(s *stored) *stored {
	if !s.Partial() || x.covers(s) || x.completes(s) {
		return s
	}
	for _, other := range x.entry.variants {
		if other.Coexists(&s.Response) && (x.covers(other) || x.completes(other)) {
			return other
		}
	}
	return s
}

// unsafe forwards a request that the cache cannot answer, and invalidates the responses that it may have
// changed.
func (x *exchange) unsafe(ctx context.Context) (*Response, error) {
	reason := x.unsafeReason()
	if x.requested.OnlyIfCached {
		return nil, ErrOnlyIfCached
	}
	forwarding := new(lifetime.Lifetime)
	forwarding.Begin(ctx)
	leave := context.AfterFunc(ctx, func() { forwarding.End(lifetime.Cause(ctx)) })
	defer leave()
	requested, shard := x.cache.config.Now(), x.cache.storage.shard(x.r.Key)
	forgets := shard.countForgets()
	response, err := x.origin.RoundTrip(forwarding, Outgoing{Request: x.r.Request}) //nolint:contextcheck // ends with ctx
	if err == nil {
		err = x.unasked(response)
	}
	if err != nil {
		forwarding.End(err)
		return nil, err
	}
	at := rules.Arrival{Requested: requested, Received: x.cache.config.Now()}
	current := shard.countForgets() == forgets // otherwise the response may be older than a purge
	if !rules.SafeMethod(x.r.Method) && response.Status < http.StatusBadRequest {
		x.invalidate(response)
	}
	if s, _ := x.toStore(response, x.control(response, nil), at); s != nil && current {
		f := x.startExclusive()
		f.exchange = forwarding
		x.outcome.Forwarded = reason
		return x.arriving(ctx, f, &fetched{Response: response, Arrival: at}, s)
	}
	x.passed = body.PassThrough{Response: response, Exchange: forwarding, Buffers: &x.cache.buffers}
	x.passed.Watch = lifetime.Notify(ctx, &x.passed)
	return x.live(response, Outcome{Forwarded: reason}, &x.passed), nil
}

// unsafeReason returns why a request that the cache cannot answer goes to the origin.
func (x *exchange) unsafeReason() string {
	if x.r.retrieves() {
		return fwdBypass // it has a body
	}
	return fwdMethod
}

// invalidate requires validation of the stored responses for the URI of a request, and for the URIs of the same
// origin that its response names: RFC 9111 section 4.4.
func (x *exchange) invalidate(response *httpmessage.Response) {
	x.cache.invalidateGroups(x.r.Key, response.Fields)
	x.cache.invalidate(x.r.Key)
	for _, name := range [...]string{"Location", "Content-Location"} {
		if reference := response.Fields.Get(name); reference != "" {
			if key, same := x.cache.config.SameOrigin(x.r.Key, reference); same && key != x.r.Key {
				x.cache.invalidate(key)
			}
		}
	}
}

// refresh validates a stored response in the background, unless that is under way: RFC 5861 section 3. It does
// not end with the client.
func (x *exchange) refresh(ctx context.Context) {
	c := x.cache
	if x.forOneClient() || x.r.Fields.Has("Authorization") {
		return // the response could not be shared
	}
	r := *x.r
	r.ClientHalfClosed = nil
	detached := &exchange{
		cache: c, r: &r, origin: x.origin, requested: x.requested, selected: x.selected, entry: x.entry,
		background: true,
	}
	own := detached.newFlight(x.collapseKey(), false)
	f := own.shard.enter(own, r.Fields, false)
	if f != own {
		f.leave()
		return
	}
	select {
	case c.background <- struct{}{}:
	default:
		f.fail()
		return
	}
	r.Fields, r.Method = rules.Unconditional(x.r.Fields), "GET"
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.base, cancel) //nolint:contextcheck // also ends with the cache
	c.spawn(func() {
		defer func() { stop(); cancel(); <-c.background }()
		a, err := detached.lead(ctx, f)
		if err == nil && a.Content != nil {
			defer a.Content.Close()
			if a.ContentLength <= c.config.MaxObject {
				_ = a.Content.SendTo(io.Discard, nil) // an incomplete response is not stored
			}
		}
	})
}

// completes reports whether a request is for the whole of a representation whose stored part is the beginning.
func (x *exchange) completes(s *stored) bool {
	return x.r.Method == http.MethodGet && !x.r.Fields.Has("Range") &&
		s != nil && s.Partial() && s.Part.Start == 0 && rules.Strong(s.ETag)
}
