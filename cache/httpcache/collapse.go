package httpcache

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/cache/httpcache/body"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/lifetime"
	"github.com/urnd/urnd/internal/quota"
)

// Requests that probably get the same response are collapsed into one exchange with the origin (RFC 9111
// section 4). A request follows a leader; otherwise it queries the origin itself, within a limit per origin.
// Followers share the response of their leader, but not its errors, its delay or the pace of its client.

// collapseKey is what collapsed requests have in common. It is comparable.
type collapseKey struct {
	collapseKind
	// selecting are the request's values of the fields that select among the stored responses.
	selecting string
}

// collapseKind is the part of a collapseKey known before anything is stored.
type collapseKind struct {
	// cookie is whether the requests have cookies, which may make an origin slower, or its response private.
	cookie bool
	// spelling is Request.Spelling.
	spelling string
}

const (
	// maxLeaders is how many leaders a request follows: if the first is overdue, a second leader starts.
	maxLeaders = 2
	// maxCollapseKinds limits the kinds of an entry that are not collapsed.
	maxCollapseKinds = 32
	// uncollapsedFor is how long requests for a URI are not collapsed after a response that cannot be shared.
	uncollapsedFor = 2 * time.Minute
)

// load answers by an exchange with the origin, either its own or that of another client.
func (x *exchange) load(ctx context.Context, reason string) (*Response, error) {
	x.outcome.Forwarded = reason
	if x.private = x.forOneClient(); x.private {
		return x.lead(ctx, x.startExclusive())
	}
	key := x.collapseKey()
	if !x.collapses(key.collapseKind) {
		return x.lead(ctx, x.startExclusive())
	}
	var overdue *flight
	for range maxLeaders {
		f, leads := x.enter(key, false)
		if leads {
			return x.lead(ctx, f)
		}
		if overdue == nil && x.mayUseStaleNow() {
			f.leave()
			return x.answer(ctx, x.selected, Outcome{Detail: "stale-while-waiting"}, false)
		}
		a, err := x.follow(ctx, f, overdue)
		if a != nil || err != nil && !errors.Is(err, body.ErrOverdue) {
			return a, err
		}
		if err == nil {
			break // the flight has no response for followers
		}
		overdue = f
	}
	return x.fetchWithinLimit(ctx)
}

// collapseKey returns the collapse key of the request.
func (x *exchange) collapseKey() collapseKey {
	key := collapseKey{collapseKind: collapseKind{cookie: x.r.Fields.Has("Cookie"), spelling: x.r.Spelling}}
	if x.entry == nil || len(x.entry.variants) == 0 {
		return key
	}
	var b strings.Builder
	for _, one := range x.entry.variants[0].Selectors {
		b.WriteString(rules.NewSelector(one.Name, x.r.Fields.Values(one.Name)).Value)
		b.WriteByte('\n') // no value has a line feed
	}
	key.selecting = b.String()
	return key
}

// collapses reports whether the request may follow another client. With Authorization it may not: the leader's
// response would usually not be reusable for it.
func (x *exchange) collapses(kind collapseKind) bool {
	return x.r.Method == http.MethodGet && !x.r.Fields.Has("Authorization") && !x.requested.NoCache &&
		(x.entry == nil || x.cache.config.Now().After(x.entry.uncollapsed[kind]))
}

// forOneClient reports whether the response must be assumed to be for this client alone, because the request has
// unkeyed fields that the Vary of the stored responses does not name. Then no request follows it, and it changes no
// stored response, unless the Vary of the response names them all.
func (x *exchange) forOneClient() bool {
	unkeyed := x.unkeyed()
	if len(unkeyed) == 0 {
		return false
	}
	return x.entry == nil || len(x.entry.variants) == 0 || !x.entry.variants[0].SelectedBy(unkeyed)
}

// exclusive reports whether the response must be assumed to be for this client alone until it arrives: it may
// be partial, or a 304 to a condition of the client.
func (x *exchange) exclusive() bool {
	return x.r.Fields.Has("Range") || x.originRequest().ownConditions
}

// enter returns the flight that the request may follow, or starts one that the request leads. If arrivedOnly is
// set, it follows only a flight whose header has arrived. That also holds for an exclusive request, whose own
// flight no other request follows.
func (x *exchange) enter(key collapseKey, arrivedOnly bool) (f *flight, leads bool) {
	exclusive := x.exclusive()
	mine := x.newFlight(key, exclusive)
	f = mine.shard.enter(mine, x.r.Fields, arrivedOnly || exclusive)
	return f, f == mine
}

// startExclusive starts a flight that no other request follows.
func (x *exchange) startExclusive() *flight {
	f := x.newFlight(collapseKey{}, true)
	f.shard.start(f)
	return f
}

// follow answers by the response of another client's flight f, or of the overdue flight, which may be nil. It
// returns nil if neither has a response for this client.
func (x *exchange) follow(ctx context.Context, f, overdue *flight) (*Response, error) {
	defer f.leave()
	late := time.NewTimer(f.waitBudget())
	defer late.Stop()
	var before <-chan struct{} // never ready
	if overdue != nil && !overdue.published.Load() {
		before = overdue.whenPublished()
	}
	published := f.whenPublished()
	for {
		select {
		case <-published:
			return x.take(ctx, f, late.C)
		case <-f.ended: // no request follows a client that may have disconnected
			return nil, nil //nolint:nilnil // no response in time
		case <-before:
			if a, err := x.take(ctx, overdue, elapsed()); a != nil || err != nil && !errors.Is(err, body.ErrOverdue) {
				return a, err
			}
			before = nil
		case <-late.C:
			return nil, body.ErrOverdue
		case <-ctx.Done():
			return nil, lifetime.Cause(ctx)
		}
	}
}

// elapsed returns a closed channel, like that of an expired timer.
func elapsed() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// take answers by the response of another client's flight, nil if it does not fit this request.
func (x *exchange) take(ctx context.Context, f *flight, late <-chan time.Time) (*Response, error) {
	s := f.result
	if s == nil || !s.Matches(x.r.Fields.Values) {
		return nil, nil //nolint:nilnil // no response for followers
	}
	if use := s.UseFor(x.requested, x.cache.config.Now()); use == rules.MustValidate || use == rules.MustReload {
		return nil, nil //nolint:nilnil // not usable for this request
	}
	if b, ok := s.content.(*body.Arriving); ok && (f.awaited || !b.Shareable()) {
		if err := b.AwaitEnd(ctx, late); err != nil {
			return nil, err
		}
		return x.again(ctx)
	}
	a, err := x.answer(ctx, s, x.collapsed(), false)
	if errors.Is(err, body.ErrAbandoned) {
		return nil, nil //nolint:nilnil // too late to join the body
	}
	if a != nil && f.live != nil && a.Status == s.Status {
		a.Trailer = f.live.Trailer
	}
	return a, err
}

// again answers by what is stored now, nil if that does not fit this request.
func (x *exchange) again(ctx context.Context) (*Response, error) {
	x.look()
	if reason, _ := x.usable(); reason != "" {
		return nil, nil //nolint:nilnil // nothing usable is stored
	}
	return x.answer(ctx, x.selected, x.collapsed(), false)
}

// collapsed returns the outcome of a request answered by the exchange of another client.
func (x *exchange) collapsed() Outcome {
	outcome := x.outcome
	outcome.Collapsed, outcome.Stored = true, true
	return outcome
}

// fetchWithinLimit queries the origin after the exchanges of other clients gave no usable response. It waits
// for the concurrency limit of the origin, unless a usable response is stored in the meantime.
func (x *exchange) fetchWithinLimit(ctx context.Context) (*Response, error) {
	if a, err := x.again(ctx); a != nil || err != nil {
		return a, err
	}
	release, err := x.cache.limits.acquire(ctx, rules.OriginOf(x.r.Key), x.r.Client)
	if err != nil {
		return nil, lifetime.Cause(ctx)
	}
	// The slot is released when the header has arrived, or earlier if the origin hangs.
	defer release()
	defer time.AfterFunc(x.cache.config.CollapseTimeout, release).Stop()
	if a, err := x.again(ctx); a != nil || err != nil {
		return a, err
	}
	f, leads := x.enter(x.collapseKey(), true) // the entry may have changed while waiting
	if !leads {
		if a, err := x.follow(ctx, f, nil); a != nil || err != nil && !errors.Is(err, body.ErrOverdue) {
			return a, err
		}
		return x.lead(ctx, x.startExclusive())
	}
	if a, err := x.again(ctx); a != nil || err != nil { // stored, and its flight ended, since the last check
		f.fail()
		return a, err
	}
	return x.lead(ctx, f)
}

const (
	defaultCollapseTimeout = 5 * time.Second
	defaultCollapseLimit   = 16
)

// limits are the limits of concurrent exchanges per origin by clients that followed another client in vain. One
// client gets at most a quarter of a limit.
type limits struct {
	origins quota.Queues[string]
	clients quota.Queues[clientOfOrigin]
}

// clientOfOrigin is the quota key of one client at one origin.
type clientOfOrigin struct {
	origin string
	client netip.Addr
}

// acquire waits until a client may query an origin, or ctx ends. release may be called more than once.
func (l *limits) acquire(ctx context.Context, origin string, client netip.Addr) (release func(), err error) {
	ofClient, err := l.clients.Acquire(ctx, clientOfOrigin{origin, client})
	if err != nil {
		return nil, err
	}
	ofOrigin, err := l.origins.Acquire(ctx, origin)
	if err != nil {
		ofClient()
		return nil, err
	}
	return sync.OnceFunc(func() { ofOrigin(); ofClient() }), nil
}

// mayUseStaleNow reports whether the stale response may be used while another client validates it: RFC 9111
// section 4.2.4.
func (x *exchange) mayUseStaleNow() bool {
	now, staleFor := x.cache.config.Now(), x.cache.config.StaleFor
	return x.selected != nil && x.covers(x.selected) && x.selected.UsableWhileRevalidating(x.requested, now, staleFor)
}

// withoutCollapsing returns the entry with one more kind of requests that are not collapsed until a time. It
// drops expired kinds and, above the limit, the one that expires first, but never the kind of the normal
// spelling without cookies.
func (e *Entry) withoutCollapsing(kind collapseKind, now, until time.Time) *Entry {
	after := e.copied()
	after.uncollapsed = map[collapseKind]time.Time{kind: until}
	var first collapseKind
	for other, end := range e.copied().uncollapsed {
		if other == kind || !now.Before(end) {
			continue
		}
		after.uncollapsed[other] = end
		if other != (collapseKind{}) && (first == (collapseKind{}) || end.Before(after.uncollapsed[first])) {
			first = other
		}
	}
	if len(after.uncollapsed) > maxCollapseKinds {
		delete(after.uncollapsed, first)
	}
	return after
}

// doNotCollapse disables collapsing of the kind of this request for uncollapsedFor. It changes nothing if
// collapsing is already disabled for more than half of that time.
func (x *exchange) doNotCollapse() {
	now, kind := x.cache.config.Now(), x.collapseKey().collapseKind
	if x.entry != nil && x.entry.uncollapsed[kind].After(now.Add(uncollapsedFor/2)) {
		return
	}
	x.cache.storage.update(x.r.Key, func(e *Entry) *Entry {
		return e.withoutCollapsing(kind, now, now.Add(uncollapsedFor))
	})
}

// newFlight returns a flight of the request that is not started yet. The first one uses the memory of the
// exchange.
func (x *exchange) newFlight(key collapseKey, exclusive bool) *flight {
	f := &x.own
	if f.shard != nil {
		f = new(flight)
	}
	f.cache, f.shard, f.key = x.cache, x.cache.storage.shard(x.r.Key), x.r.Key
	f.collapse, f.exclusive, f.exchange = key, exclusive, &f.own
	if x.r.ClientHalfClosed != nil {
		f.ended = x.r.ClientHalfClosed.Done()
	}
	return f
}
