package httpcache

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/urnd/urnd/cache/httpcache/cachecontrol"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// lead makes an exchange with the origin, and answers by it. Others may wait for it.
func (x *exchange) lead(ctx context.Context, f *flight) (*Answer, error) {
	f.exchange.Begin(ctx)
	f.watch = lifetime.On(ctx, f)
	returned := false
	defer func() {
		if !returned { // a panic
			f.exchange.End(errAbandoned)
			f.fail()
		}
		f.leave()
		if !f.isPassed {
			f.watch.Stop()
		}
	}()
	a, err := x.ask(ctx, f)
	returned = true
	return a, err
}

// ask asks for what other processes share, then the origin, and answers by what it sends.
func (x *exchange) ask(ctx context.Context, f *flight) (*Answer, error) {
	if s := x.findShared(ctx, f); s != nil {
		f.exchange.End(nil)
		f.finish(s)
		return x.answer(ctx, s, Outcome{Detail: "shared"}, false)
	}
	got, err := x.fetch(f.exchange) //nolint:contextcheck // it ends with who waits for it
	switch {
	case err != nil:
		return x.failed(ctx, f, err)
	case got.valid != nil:
		return x.validated(ctx, f, got)
	case x.replacesError(got):
		f.exchange.End(errAbandoned)
		_ = got.Body.Close()
		f.fail()
		return x.stale(ctx)
	default:
		return x.receive(ctx, f, got)
	}
}

// errReplaced means that the origin has answered with an error, in place of which what is stored is
// used.
var errReplaced = errors.New("the origin answered with an error")

// failed answers where the origin has not, by what is stored.
func (x *exchange) failed(ctx context.Context, f *flight, err error) (*Answer, error) {
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

// replacesError reports whether the stored response is used in place of an error: RFC 5861 section 4, RFC 9111 section 4.3.3. It is not
// where the origin says for how long the error is fresh: that is a response to store like any other.
func (x *exchange) replacesError(got *fetched) bool {
	switch got.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return x.mayUseStale(errReplaced) && !x.isExplicitlyFresh(got)
	default:
		return false
	}
}

// isExplicitlyFresh reports whether a response is stored, and fresh because the origin says so.
func (x *exchange) isExplicitlyFresh(got *fetched) bool {
	s := x.toStore(got.Response, got.control, got.arrival)
	return s != nil && s.explicit && s.ttl(x.cache.config.Now()) > 0
}

// validated answers by the stored response that a 304 says is right, and stores it with the fields
// of the 304: RFC 9111 section 4.3.4.
func (x *exchange) validated(ctx context.Context, f *flight, got *fetched) (*Answer, error) {
	f.exchange.End(nil)
	_ = got.Body.Close()
	s := got.valid
	fresh, verdict := x.updated(s, got.Response, got.arrival)
	if s != x.selected {
		fresh.selectors = selectorsOf(fresh.header, x.r.Fields)
	}
	outcome := x.outcome
	outcome.OriginStatus = http.StatusNotModified
	switch verdict {
	case updateRemoves:
		x.cache.remove(x.r.Key, s)
		x.cache.unshare(x.r.Key, s)
		f.finish(nil)
	case updateKeeps:
		f.finish(nil)
	case updateReplaces:
		outcome.Stored = true
		f.finish(fresh)
	}
	a, err := x.answer(ctx, fresh, outcome, true)
	if cookies := got.Fields.Lines("Set-Cookie"); err == nil && len(cookies) > 0 { // for the client that has asked
		a.Fields = without(a.Fields, "Set-Cookie")
		for _, cookie := range cookies {
			a.Fields.Add("Set-Cookie", cookie)
		}
	}
	return a, err
}

// remove removes one variant of what is stored for a key.
func (c *Cache) remove(key string, s *stored) {
	c.update(key, func(e *Entry) *Entry {
		if e == nil || !slices.ContainsFunc(e.variants, s.isSame) {
			return e
		}
		after := *e
		after.variants = slices.DeleteFunc(slices.Clone(e.variants), s.isSame)
		return &after
	})
}

// receive answers by a response while it arrives, and stores it where that is allowed.
func (x *exchange) receive(ctx context.Context, f *flight, got *fetched) (*Answer, error) {
	response := got.Response
	if x.r.Method == http.MethodHead {
		s := x.updateByHead(response, got.arrival)
		f.finish(nil)
		if s != nil {
			f.exchange.End(nil)
			_ = response.Body.Close()
			return x.answer(ctx, s, x.outcome, true)
		}
		return x.live(response, x.outcome, x.passOn(f, response)), nil
	}
	if s := x.toStore(response, got.control, got.arrival); s != nil && s.isUseful() {
		return x.arriving(ctx, f, got, s)
	}
	return x.notStored(f, got.control.Directives, response), nil
}

// notStored answers by a response that is for this client alone.
func (x *exchange) notStored(f *flight, directives cachecontrol.Directives, response *httpmessage.Response) *Answer {
	shared := f.isShared()
	f.finish(nil)
	switch {
	case x.private, x.r.Fields.Has("Authorization"): // others do not ask the same
	case response.Status == http.StatusNotModified:
		x.cache.fetchWhole(x.r.Key)
	case response.Status >= http.StatusBadRequest: // others may get another answer
	case directives.Has("private"), directives.Has("no-store"), shared && x.isNotForAny(response):
		x.doNotCollapse()
	}
	return x.live(response, x.outcome, x.passOn(f, response))
}

// isNotForAny reports whether a response is not stored for what it is itself, or for the cookies that all have who wait
// for it, and not for something else in this request.
func (x *exchange) isNotForAny(response *httpmessage.Response) bool {
	return x.r.Fields.Has("Cookie") || isForOthers(&x.r.Request, x.unkeyed(), response, true)
}

// doNotCollapse lets requests like this one for its URI go their own way for some time. Where they do so for most of it, that is
// not noted again.
func (x *exchange) doNotCollapse() {
	now, of := x.cache.config.Now(), x.class()
	if x.entry != nil && x.entry.uncollapsed[of.kind].After(now.Add(uncollapsedFor/2)) {
		return
	}
	x.cache.update(x.r.Key, func(e *Entry) *Entry { return e.alone(of.kind, now, now.Add(uncollapsedFor)) })
}

// fetchWhole lets the next request for a URI ask for a response that can be stored, after a 304
// to the condition of a client: else nothing would ever be stored where all clients have a
// response of their own.
func (c *Cache) fetchWhole(key string) {
	c.update(key, func(e *Entry) *Entry {
		after := e.copied()
		after.unconditional = true
		return after
	})
}

// copied returns a copy of an entry, an empty one of none.
func (e *Entry) copied() *Entry {
	if e == nil {
		return &Entry{}
	}
	after := *e
	return &after
}
