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

// Requests that probably have the same response are collapsed into one exchange with the origin (RFC 9111 section 4).
// The rule is: a request follows a leader, else it goes itself, within a bound for each origin. They share the response
// of the leader, and never its error, its delay or its pace.

// collapseKey is what requests have in common that are collapsed. It is comparable.
type collapseKey struct {
	collapseKind
	// selecting are the values of the fields that the stored responses are selected by.
	selecting string
}

// collapseKind is what is known of requests that could be collapsed before anything is stored.
type collapseKind struct {
	// cookie is whether they have cookies, by which an origin may take longer, or answer for one client.
	cookie bool
	// spelling is Request.Spelling.
	spelling string
}

const (
	// maxLeaders is how many leaders a request follows: one that takes too long gets a second one.
	maxLeaders = 2
	// maxCollapseKinds bounds the kinds of an entry that are not collapsed.
	maxCollapseKinds = 32
	// uncollapsedFor is how long requests for a URI are not collapsed where its responses are not for all.
	uncollapsedFor = 2 * time.Minute
)

// load answers by an exchange with the origin, its own or one that another client has started.
func (x *exchange) load(ctx context.Context, reason string) (*Answer, error) {
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
			break // it brings nothing for others
		}
		overdue = f
	}
	return x.fetchWithinLimit(ctx)
}

// collapseKey returns what the request has in common with those that it is collapsed with.
func (x *exchange) collapseKey() collapseKey {
	key := collapseKey{collapseKind: collapseKind{cookie: x.r.Fields.Has("Cookie"), spelling: x.r.Spelling}}
	if x.entry == nil || len(x.entry.variants) == 0 {
		return key
	}
	var b strings.Builder
	for _, one := range x.entry.variants[0].Selectors {
		b.WriteString(rules.NewSelector(one.Name, x.r.Fields.Lines(one.Name)).Value)
		b.WriteByte('\n') // no value has one
	}
	key.selecting = b.String()
	return key
}

// collapses reports whether the request may follow another client. Those with credentials mostly cannot be answered by
// what that one gets.
func (x *exchange) collapses(kind collapseKind) bool {
	return x.r.Method == http.MethodGet && !x.r.Fields.Has("Authorization") && !x.requested.NoCache &&
		(x.entry == nil || x.cache.config.Now().After(x.entry.uncollapsed[kind]))
}

// forOneClient reports whether the response to a request is for its client alone, unless it turns out that its
// Vary names all that could have made it: no request follows it, and it changes nothing that is stored.
func (x *exchange) forOneClient() bool {
	unkeyed := x.unkeyed()
	if len(unkeyed) == 0 {
		return false
	}
	return x.entry == nil || len(x.entry.variants) == 0 || !x.entry.variants[0].SelectedBy(unkeyed)
}

// exclusive reports whether the response to the request is for its client alone until it is known: it may be a part, or
// 304 to a condition of the client.
func (x *exchange) exclusive() bool {
	return x.r.Fields.Has("Range") || x.originRequest().ownConditions
}

// enter returns the flight that the request may follow, or starts one, which it leads. arrivedOnly is whether it
// follows only one whose header has arrived, as an exclusive request always does: that one leads a flight that no
// other request follows.
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

// follow answers by what the flight of another client brings, or an earlier one that is overdue and may
// be nil; nil where it brings nothing for this client.
func (x *exchange) follow(ctx context.Context, f, overdue *flight) (*Answer, error) {
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
		case <-f.ended: // no request follows a client that may have left
			return nil, nil //nolint:nilnil // it brings nothing in time
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

// elapsed returns the channel of a time that has passed.
func elapsed() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// take answers by what the flight of another client has brought, nil where that is not for this one.
func (x *exchange) take(ctx context.Context, f *flight, late <-chan time.Time) (*Answer, error) {
	s := f.result
	if s == nil || !s.Matches(x.r.Fields.Lines) {
		return nil, nil //nolint:nilnil // it has brought nothing
	}
	if use := s.UseFor(x.requested, x.cache.config.Now()); use == rules.MustValidate || use == rules.MustReload {
		return nil, nil //nolint:nilnil // nothing for this request
	}
	if b, ok := s.content.(*body.Arriving); ok && (f.awaited || !b.Shareable()) {
		if err := b.AwaitEnd(ctx, late); err != nil {
			return nil, err
		}
		return x.again(ctx)
	}
	a, err := x.answer(ctx, s, x.collapsed(), false)
	if errors.Is(err, body.ErrAbandoned) {
		return nil, nil //nolint:nilnil // it is too late to begin
	}
	if a != nil && f.live != nil && a.Status == s.Status {
		a.Trailer = f.live.Trailer
	}
	return a, err
}

// again answers by what is stored by now, nil where that is not for this request.
func (x *exchange) again(ctx context.Context) (*Answer, error) {
	x.look()
	if reason, _ := x.usable(); reason != "" {
		return nil, nil //nolint:nilnil // nothing can be used
	}
	return x.answer(ctx, x.selected, x.collapsed(), false)
}

// collapsed returns the outcome of a request that another client's exchange has answered.
func (x *exchange) collapsed() Outcome {
	outcome := x.outcome
	outcome.Collapsed, outcome.Stored = true, true
	return outcome
}

// fetchWithinLimit asks the origin where the exchanges of others have brought nothing, as soon as not too many do
// so at a time, or answers by what has arrived meanwhile.
func (x *exchange) fetchWithinLimit(ctx context.Context) (*Answer, error) {
	if a, err := x.again(ctx); a != nil || err != nil {
		return a, err
	}
	release, err := x.cache.limits.acquire(ctx, rules.OriginOf(x.r.Key), x.r.Client)
	if err != nil {
		return nil, lifetime.Cause(ctx)
	}
	// It ends with the header, and before where the origin hangs.
	defer release()
	defer time.AfterFunc(x.cache.config.CollapseTimeout, release).Stop()
	if a, err := x.again(ctx); a != nil || err != nil {
		return a, err
	}
	f, leads := x.enter(x.collapseKey(), true) // of what is stored by now
	if !leads {
		if a, err := x.follow(ctx, f, nil); a != nil || err != nil && !errors.Is(err, body.ErrOverdue) {
			return a, err
		}
		return x.lead(ctx, x.startExclusive())
	}
	if a, err := x.again(ctx); a != nil || err != nil { // it was stored, and its flight ended, in this moment
		f.fail()
		return a, err
	}
	return x.lead(ctx, f)
}

const (
	defaultCollapseTimeout = 5 * time.Second
	defaultCollapseLimit   = 16
)

// limits bound, for each origin, the concurrent exchanges of clients that have followed others in vain. A client has a
// quarter of a limit at most.
type limits struct {
	origins quota.Queues[string]
	clients quota.Queues[clientOfOrigin]
}

// clientOfOrigin is the key of what one client has of the limit of one origin.
type clientOfOrigin struct {
	origin string
	client netip.Addr
}

// acquire waits until a client may ask an origin, or ctx ends. release may be called again.
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

// mayUseStaleNow reports whether a stale response may be used while another client has it validated: RFC
// 9111 section 4.2.4.
func (x *exchange) mayUseStaleNow() bool {
	now, staleFor := x.cache.config.Now(), x.cache.config.StaleFor
	return x.selected != nil && x.covers(x.selected) && x.selected.UsableMeanwhile(x.requested, now, staleFor)
}

// withoutCollapsing returns the entry with another kind of requests that are not collapsed until a time. Those whose
// time has passed are left out, and of too many the one whose time passes first, but for those of the normal spelling
// without cookies.
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

// doNotCollapse lets requests like this one for its URI go their own way for some time. Where they do so for most of
// it, that is not noted again.
func (x *exchange) doNotCollapse() {
	now, kind := x.cache.config.Now(), x.collapseKey().collapseKind
	if x.entry != nil && x.entry.uncollapsed[kind].After(now.Add(uncollapsedFor/2)) {
		return
	}
	x.cache.storage.update(x.r.Key, func(e *Entry) *Entry {
		return e.withoutCollapsing(kind, now, now.Add(uncollapsedFor))
	})
}

// newFlight returns a flight of the request, which is not started; in memory of the exchange, where that has no other
// one.
func (x *exchange) newFlight(key collapseKey, exclusive bool) *flight {
	f := &x.own
	if f.shard != nil {
		f = new(flight)
	}
	f.cache, f.shard, f.key = x.cache, x.cache.storage.shard(x.r.Key), x.r.Key
	f.collapse, f.exclusive, f.exchange = key, exclusive, &f.own
	if x.r.Ended != nil {
		f.ended = x.r.Ended.Done()
	}
	return f
}
