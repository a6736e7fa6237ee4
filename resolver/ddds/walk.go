package ddds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver"
)

// walk is one way from a first key to an answer.
type walk struct {
	lookup Lookuper
	limit  int // domains on one way; RFC 6116 section 5.2.1 suspects a loop beyond 5
	// fallback goes on with the next record where one leads to a failure.
	fallback bool
	ask      resolver.Ask // nil: clients are led to servers
	query    resolver.Query
	aus      string // the text of the query's URI
	source   source // for the locations that are found
	observer Observer

	ttl    time.Duration // least of all record sets used so far; -1 before the first
	doubts bool          // some record set used so far is not authenticated
	steps  map[string]bool
	looked int // domains on all ways
}

// errNoDelegation is that the first key has no records: nobody has delegated
// the namespace below this root. It wraps the *resolver.Negative that says so.
var errNoDelegation = errors.New("not delegated")

// run follows rules from key until a terminal one.
func (w *walk) run(ctx context.Context, key string) (resolver.Answer, error) {
	w.ttl, w.doubts, w.steps = -1, false, make(map[string]bool)
	answer, err := w.follow(ctx, key)
	var s *serverSaid
	if errors.As(err, &s) {
		return answer, s.error
	}
	return answer, err
}

// follow follows the rules of one domain. A failure on the way is reported, not
// covered by another record of the set (RFC 3403 section 8), unless that is wished
// for (RFC 6116 section 5.2.1): then it goes on with the next of the same order.
func (w *walk) follow(ctx context.Context, key string) (resolver.Answer, error) {
	s, err := w.choose(ctx, key)
	if err != nil {
		return resolver.Answer{}, err
	}
	defer delete(w.steps, key) // another way may lead through it
	var first error
	for i, m := range s.usable {
		var answer resolver.Answer
		if m.flag == 0 {
			answer, err = w.follow(ctx, m.key)
		} else {
			answer, err = w.finish(ctx, s.usable[i:])
		}
		if err == nil || !w.fallback || ctx.Err() != nil || errors.As(err, new(*serverSaid)) {
			return answer, err
		}
		if first == nil {
			first = err
		}
		if t := resolver.TraceOf(ctx); t != nil {
			t.Add("ddds", "%s: %s failed: %s", key, m.record, err)
		}
	}
	return resolver.Answer{}, first
}

// choose looks up the rules of a domain, and returns those that can be used: one at
// least.
func (w *walk) choose(ctx context.Context, key string) (selection, error) {
	if w.steps[key] {
		return selection{}, w.refuse("the rules lead back to %s", key)
	}
	if len(w.steps) == w.limit {
		return selection{}, w.refuse("the rules lead through more than %d domains", w.limit)
	}
	w.looked++
	if w.looked > w.limit*w.limit {
		return selection{}, w.refuse("the rules lead through too many domains")
	}
	w.steps[key] = true
	w.observer.step()
	records, proof, err := w.lookup.NAPTR(ctx, key)
	if err != nil {
		delete(w.steps, key)
	}
	if err != nil && len(w.steps) == 0 && errors.Is(err, resolver.ErrNotFound) {
		return selection{}, fmt.Errorf("%w: %w", errNoDelegation, err)
	}
	if err != nil {
		return selection{}, w.missing(err)
	}
	w.rest(proof)
	s, err := choose(ctx, w.aus, records, w.query.Service)
	if err != nil {
		return selection{}, err
	}
	w.observer.skipped(s)
	w.trace(ctx, key, s)
	switch {
	case len(s.usable) > 0:
		return s, nil
	case s.matched:
		return selection{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: key + " offers nothing that can be used", TTL: w.ttl,
		}
	case s.excess > 0:
		return selection{}, w.refuse("none of the first %d rules of %s is for this name, and there are %d more", maxRules, key, s.excess)
	default:
		return selection{}, w.refuse("no rule of %s is for this name", key)
	}
}

// rest notes that the answer rests on a record set.
func (w *walk) rest(proof Proof) {
	w.use(proof.TTL)
	w.doubts = w.doubts || !proof.Authentic
}

// use notes how long something lives on which the answer rests (RFC 3402 section 3.3).
func (w *walk) use(ttl time.Duration) {
	if w.ttl < 0 || ttl < w.ttl {
		w.ttl = ttl
	}
}

// refuse is the authoritative "no" of the zones that were asked.
func (w *walk) refuse(format string, args ...any) error {
	return &resolver.Negative{Kind: resolver.ErrNotFound, Reason: fmt.Sprintf(format, args...), TTL: max(w.ttl, 0)}
}

// missing judges the failure to get records to which a rule has led.
func (w *walk) missing(err error) error {
	var n *resolver.Negative
	if !errors.As(err, &n) {
		return err
	}
	w.use(n.TTL)
	return w.refuse("%s", n.Reason)
}

func (w *walk) trace(ctx context.Context, key string, s selection) {
	t := resolver.TraceOf(ctx)
	if t == nil {
		return
	}
	for _, p := range s.skipped {
		t.Add("ddds", "%s: skipped %s: %s", key, p.record, p.reason)
	}
	for i, m := range s.usable {
		verb := "could use"
		if i == 0 {
			verb = "used"
		}
		t.Add("ddds", "%s: %s %s -> %s", key, verb, m.record, m.key)
	}
}
