package httpcache

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
)

// ErrOnlyIfCached means that nothing stored can be used, and the client wants nothing else: RFC
// 9111 section 5.2.1.7.
var ErrOnlyIfCached = errors.New("there is no stored response that can be used, and the client asks for no other one (only-if-cached)")

// exchange is a request that is being answered.
type exchange struct {
	cache    *Cache
	r        *Request
	origin   Origin
	demands  demands
	asked    cachecontrol.Directives
	outcome  Outcome
	selected *stored // nil where nothing matches
	entry    *Entry  // nil where nothing is stored
	// background is whether the client has its answer already.
	background bool
	plain      bool // the origin is asked without conditions
	// private is whether the response is for this client alone: see isPrivate.
	private bool
	// unkeyedNames are what unkeyed returns, once hasUnkeyed is set.
	unkeyedNames []string
	hasUnkeyed   bool

	// What most exchanges need once, in one piece of memory.
	own        flight
	got        fetched
	directives [4]cachecontrol.Directive // of the response
	answered   Answer
	passed     passed
}

// Serve answers a request from what is stored, or by forwarding it.
func (c *Cache) Serve(ctx context.Context, r *Request, origin Origin) (*Answer, error) {
	x := &exchange{cache: c, r: r, origin: origin}
	x.demands, x.asked = demandsOf(r.Fields)
	a, err := x.serve(ctx)
	if errors.Is(err, errLost) { // the next one does without it
		c.forgetLost(r.Key)
		x = &exchange{cache: c, r: r, origin: origin, demands: x.demands, asked: x.asked}
		a, err = x.serve(ctx)
	}
	c.counts.add(a, err)
	return a, err
}

func (x *exchange) serve(ctx context.Context) (*Answer, error) {
	if !x.r.isGet() || x.r.Body != nil {
		return x.unsafe(ctx)
	}
	x.look()
	switch {
	case x.cache.config.Store == nil || x.r.Pass:
		return x.pass(ctx, fwdBypass)
	case (x.demands.noStore || isForOrigin(x.r.Fields)) && !x.demands.onlyIfCached:
		return x.pass(ctx, fwdRequest)
	}
	reason, use := x.usable()
	switch {
	case reason == "" && use == useRevalidate:
		x.refresh(ctx)
		return x.answer(ctx, x.selected, Outcome{Detail: "stale-while-revalidate"}, false)
	case reason == "":
		return x.answer(ctx, x.selected, Outcome{}, false)
	case x.demands.onlyIfCached:
		return nil, ErrOnlyIfCached
	default:
		return x.load(ctx, reason)
	}
}

// look looks for what is stored.
func (x *exchange) look() {
	x.selected = nil
	if x.entry = x.cache.unpurged(x.r.Key, x.cache.entry(x.r.Key)).spelled(x.r.Spelling); x.entry != nil {
		if s := selectOf(x.entry.variants, x.r.Spelling, x.r.Fields.Lines); s != nil {
			x.selected = x.partFor(s)
		}
	}
}

// usable returns why what is stored cannot be used, "" where it can.
func (x *exchange) usable() (reason string, use use) {
	s := x.selected
	if s == nil {
		if x.entry != nil && len(x.entry.variants) > 0 {
			return fwdVaryMiss, validate
		}
		return fwdURIMiss, validate
	}
	if !x.covers(s) {
		return fwdPartial, validate
	}
	switch use = s.useOf(x.demands, x.cache.config.Now()); use {
	case validate:
		return fwdStale, use
	case reloadRequired:
		return fwdRequest, use
	default:
		return "", use
	}
}

// covers reports whether a stored response has all that the request asks for.
func (x *exchange) covers(s *stored) bool {
	if !s.isPartial() {
		return true
	}
	if s.length < 0 || !s.rangeApplies(x.r.Fields.Value(ifRange)) {
		return false
	}
	asked := rangesOf(&x.r.Request, s.length)
	for _, part := range asked.spans {
		if !s.part.contains(part) {
			return false
		}
	}
	return len(asked.spans) > 0
}

// pass forwards a request whose response is not stored.
func (x *exchange) pass(ctx context.Context, reason string) (*Answer, error) {
	response, err := x.origin.Ask(ctx, Outgoing{Request: x.r.Request}) // it ends with ctx
	if err == nil {
		err = x.unasked(response)
	}
	if err != nil {
		return nil, err
	}
	return x.live(response, Outcome{Forwarded: reason}, Live(response)), nil
}

// live returns the answer that passes a response on as it comes.
func (x *exchange) live(response *httpmessage.Response, outcome Outcome, content Content) *Answer {
	a := &x.answered
	*a = Answer{
		Status: response.Status, Reason: response.Reason, Fields: response.Fields, Trailer: response.Trailer,
		ContentLength: response.ContentLength, Content: content, From: response.From, Outcome: outcome,
	}
	if !response.Fields.Has("Date") {
		a.Added.Add("Date", x.cache.config.Now().UTC().Format(http.TimeFormat))
	}
	return a
}

// unasked returns why a response must not be passed on, and closes it: it is 304, and the client has
// not asked for that.
func (x *exchange) unasked(response *httpmessage.Response) error {
	if response.Status != http.StatusNotModified || isConditional(x.r.Fields) {
		return nil
	}
	_ = response.Body.Close()
	return ErrUnasked
}

// mayUseStale reports whether a stored response may be used after a failure to reach the origin.
func (x *exchange) mayUseStale(err error) bool {
	return x.selected != nil && x.covers(x.selected) && !errors.Is(err, context.Canceled) &&
		x.selected.mayUseOnError(x.demands, x.cache.config.Now(), x.cache.config.StaleFor)
}

// stale answers by a stored response although it is stale.
func (x *exchange) stale(ctx context.Context) (*Answer, error) {
	return x.answer(ctx, x.selected, Outcome{Detail: "stale-on-error"}, false)
}

// uncollapsedFor is how long requests for a URI do not wait for each other where its responses
// are not for all.
const uncollapsedFor = 2 * time.Minute
