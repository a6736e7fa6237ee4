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
	ask    func(ctx context.Context, base string, q resolver.Query) (resolver.Answer, error)
	query  resolver.Query
	aus    string // the text of the query's URI
	source string // for the locations that are found

	ttl   time.Duration // least of all record sets used so far; -1 before the first
	steps map[string]bool
}

// errNoDelegation is that the first key has no records: nobody has delegated
// the namespace below this root. It wraps the *resolver.Negative that says so.
var errNoDelegation = errors.New("not delegated")

// run follows rules from key until a terminal one. A failure on the way is
// reported, not covered by a record of an earlier set: RFC 3403 section 8.
func (w *walk) run(ctx context.Context, key string) (resolver.Answer, error) {
	w.ttl, w.steps = -1, make(map[string]bool)
	for {
		if w.steps[key] {
			return resolver.Answer{}, w.refuse("the rules lead back to %s", key)
		}
		if len(w.steps) == w.limit {
			return resolver.Answer{}, w.refuse("the rules lead through more than %d domains", w.limit)
		}
		w.steps[key] = true
		records, ttl, err := w.lookup.NAPTR(ctx, key)
		if err != nil && len(w.steps) == 1 && errors.Is(err, resolver.ErrNotFound) {
			return resolver.Answer{}, fmt.Errorf("%w: %w", errNoDelegation, err)
		}
		if err != nil {
			return resolver.Answer{}, w.missing(err)
		}
		w.use(ttl)
		s, err := choose(ctx, w.aus, records, w.query.Service)
		if err != nil {
			return resolver.Answer{}, err
		}
		w.trace(ctx, key, s)
		switch {
		case len(s.usable) == 0 && s.matched:
			return resolver.Answer{}, &resolver.Negative{
				Kind: resolver.ErrUnsupported, Reason: key + " offers nothing that can be used", TTL: w.ttl,
			}
		case len(s.usable) == 0:
			return resolver.Answer{}, w.refuse("no rule of %s is for this name", key)
		case s.usable[0].flag != 0:
			return w.finish(ctx, s.usable)
		}
		key = s.usable[0].key
	}
}

// use notes that the answer rests on a record set (RFC 3402 section 3.3).
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
	for _, p := range s.passed {
		t.Add("ddds", "%s: passed over %s: %s", key, p.record, p.reason)
	}
	for i, m := range s.usable {
		verb := "could use"
		if i == 0 {
			verb = "used"
		}
		t.Add("ddds", "%s: %s %s -> %s", key, verb, m.record, m.key)
	}
}
