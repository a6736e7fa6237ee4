package httpcache

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// load answers by an exchange with the origin, its own or one that another client has begun.
func (x *exchange) load(ctx context.Context, reason string) (*Answer, error) {
	x.outcome.Forwarded = reason
	if x.private = x.isPrivate(); x.private {
		return x.lead(ctx, x.alone())
	}
	of := x.class()
	if !x.collapses(of) {
		return x.lead(ctx, x.alone())
	}
	f, leads := x.enter(of)
	switch {
	case leads:
		return x.lead(ctx, f)
	case x.mayUseStaleNow():
		f.leave()
		return x.answer(ctx, x.selected, Outcome{Detail: "stale-while-waiting"}, false)
	default:
		return x.wait(ctx, of, f)
	}
}

func (x *exchange) enter(of class) (f *flight, leads bool) {
	return x.cache.enter(x.r, of, x.isSolitary(), x.room())
}

// alone begins a flight that nobody else joins.
func (x *exchange) alone() *flight { return x.cache.alone(x.r, x.room()) }

// room returns memory for a flight: that of the exchange for its first one.
func (x *exchange) room() *flight {
	if x.own.cache != nil {
		return new(flight)
	}
	return &x.own
}

// isSolitary reports whether what the origin answers to a request is not for others who wait for the header:
// it may be a part, or 304 to a condition of the client.
func (x *exchange) isSolitary() bool { return x.r.Fields.Has("Range") || x.question().isOwn }

// collapses reports whether a request may wait for the exchange of another client. Those with
// credentials mostly cannot be answered by what it brings.
func (x *exchange) collapses(of class) bool {
	return x.r.Method == http.MethodGet && !x.r.Fields.Has("Authorization") && !x.demands.noCache &&
		(x.entry == nil || x.cache.config.Now().After(x.entry.uncollapsed[of.kind]))
}

// wait answers by the exchange of another client, who shares the answer and never an error, a delay or the
// pace: one that takes too long gets a second leader, and after that, or where it brings nothing for
// others, each client asks the origin in turn.
func (x *exchange) wait(ctx context.Context, of class, f *flight) (*Answer, error) {
	a, err := x.follow(ctx, f, nil)
	if !errors.Is(err, errOverdue) {
		if a != nil || err != nil {
			return a, err
		}
		return x.takeTurn(ctx)
	}
	second, leads := x.enter(of)
	if leads {
		return x.lead(ctx, second)
	}
	if a, err = x.follow(ctx, second, f); a != nil || err != nil && !errors.Is(err, errOverdue) {
		return a, err
	}
	return x.takeTurn(ctx)
}

// follow answers by what the exchange of another client brings, or an earlier one that is overdue and may
// be nil; nil where it brings nothing for this client.
func (x *exchange) follow(ctx context.Context, f, earlier *flight) (*Answer, error) {
	defer f.leave()
	late := time.NewTimer(f.patience())
	defer late.Stop()
	var before <-chan struct{} // never ready
	if earlier != nil && !earlier.isReady.Load() {
		before = earlier.whenReady()
	}
	ready := f.whenReady()
	for {
		select {
		case <-ready:
			return x.take(ctx, f, late.C)
		case <-f.ended: // nobody waits for who may have left
			return nil, nil //nolint:nilnil // it brings nothing in time
		case <-before:
			if a, err := x.take(ctx, earlier, atOnce()); a != nil || err != nil && !errors.Is(err, errOverdue) {
				return a, err
			}
			before = nil
		case <-late.C:
			return nil, errOverdue
		case <-ctx.Done():
			return nil, lifetime.Cause(ctx)
		}
	}
}

// atOnce returns the channel of a time that has passed.
func atOnce() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

// take answers by what the exchange of another client has brought, nil where that is not for this one.
func (x *exchange) take(ctx context.Context, f *flight, late <-chan time.Time) (*Answer, error) {
	s := f.result
	if s == nil || !s.matches(x.r.Fields.Lines) {
		return nil, nil //nolint:nilnil // it has brought nothing
	}
	if use := s.useOf(x.demands, x.cache.config.Now()); use == validate || use == reloadRequired {
		return nil, nil //nolint:nilnil // likewise
	}
	if b, ok := s.content.(*body); ok && (f.isAwaited || !b.isShareable()) {
		if err := b.awaitEnd(ctx, late); err != nil {
			return nil, err
		}
		return x.again(ctx)
	}
	outcome := x.outcome
	outcome.Collapsed, outcome.Stored = true, true
	a, err := x.answer(ctx, s, outcome, false)
	if errors.Is(err, errAbandoned) {
		return nil, nil //nolint:nilnil // it is too late to begin
	}
	if a != nil && f.live != nil && a.Status == s.status {
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
	outcome := x.outcome
	outcome.Collapsed, outcome.Stored = true, true
	return x.answer(ctx, x.selected, outcome, false)
}

// takeTurn asks the origin where the exchanges of others have brought nothing, as soon as not too many do
// so at a time, or answers by what has come meanwhile.
func (x *exchange) takeTurn(ctx context.Context) (*Answer, error) {
	for {
		if a, err := x.again(ctx); a != nil || err != nil {
			return a, err
		}
		release, freed := x.cache.turns.take(originOf(x.r.Key), x.r.Client)
		if release != nil {
			// It ends with the header, and before where the origin hangs.
			defer release()
			defer time.AfterFunc(x.cache.config.CollapseTimeout, release).Stop()
			return x.useTurn(ctx)
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, lifetime.Cause(ctx)
		}
	}
}

// useTurn asks the origin, unless another one who has done so has the header of an answer for all.
func (x *exchange) useTurn(ctx context.Context) (*Answer, error) {
	if x.isSolitary() {
		return x.lead(ctx, x.alone())
	}
	f, leads := x.cache.enterReady(x.r, x.class(), x.room())
	if leads {
		if a, err := x.again(ctx); a != nil || err != nil { // it was stored, and its flight ended, in this moment
			f.fail()
			return a, err
		}
		return x.lead(ctx, f)
	}
	if a, err := x.follow(ctx, f, nil); a != nil || err != nil && !errors.Is(err, errOverdue) {
		return a, err
	}
	return x.lead(ctx, x.alone())
}

// mayUseStaleNow reports whether a stale response may be used while another client has it validated: RFC
// 9111 section 4.2.4.
func (x *exchange) mayUseStaleNow() bool {
	return x.selected != nil && x.covers(x.selected) && x.selected.mayUseMeanwhile(x.demands, x.cache.config.Now(), x.cache.config.StaleFor)
}
