package ddds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver"
)

// walk is the state of one run of the algorithm from a first key.
type walk struct {
	lookup Lookuper
	limit  int // domains on one path; RFC 6116 section 5.2.1 suspects a loop beyond 5
	// fallback continues with the next record after a failure.
	fallback  bool
	queryFunc resolver.QueryFunc // if nil, servers are locations
	query     resolver.Query
	aus       string // application unique string: the URI of the query
	source    source // of the locations
	observer  Observer
	// expressions is the cache of expressions shared by all names; nil for none.
	expressions *expressions

	ttl             time.Duration   // least TTL of all record sets used so far; -1 before the first
	shortest        string          // the record set or answer with that TTL, for the trace
	unauthenticated bool            // some record set used so far lacks the AD bit
	path            map[string]bool // the domains on the current path
	lookups         int             // number of looked-up domains, on all paths
	work            *budget         // remaining work of matching
}

// errNoDelegation means that the first key has no records: the namespace is not delegated below this root. The
// error also wraps the *resolver.Negative.
var errNoDelegation = errors.New("not delegated")

// run follows rules from key until a terminal one.
func (w *walk) run(ctx context.Context, key string) (resolver.Answer, error) {
	w.ttl, w.unauthenticated, w.path, w.work = -1, false, make(map[string]bool), newBudget()
	w.work.expressions = w.expressions
	answer, err := w.follow(ctx, key)
	if t := resolver.TraceOf(ctx); t != nil && w.ttl >= 0 {
		t.Add(resolver.Step{Stage: "ddds", Code: "lifetime", Values: []any{"Duration", w.ttl}}, "ttl %s, of %s",
			w.ttl.Round(time.Second), w.shortest)
	}
	var s *serverNegative
	if errors.As(err, &s) {
		return answer, s.error
	}
	return answer, err
}

// follow applies the rules of one domain. A failure is returned, even if the set has another record (RFC 3403
// section 8), unless fallback is set: then the next record of the same order is used (RFC 6116 section 5.2.1).
func (w *walk) follow(ctx context.Context, key string) (resolver.Answer, error) {
	s, err := w.choose(ctx, key)
	if err != nil {
		return resolver.Answer{}, err
	}
	defer delete(w.path, key) // another path may lead through it
	var first error
	for i, m := range s.usable {
		var answer resolver.Answer
		if m.flag == 0 {
			answer, err = w.follow(ctx, m.key)
		} else {
			answer, err = w.finish(ctx, s.usable[i:])
		}
		if err == nil || !w.fallback || ctx.Err() != nil || errors.As(err, new(*serverNegative)) {
			return answer, err
		}
		if first == nil {
			first = err
		}
		if !errors.As(err, new(*resolver.Negative)) {
			w.limitTTL(incompleteTTL, "reply without a failed rule")
		}
		if t := resolver.TraceOf(ctx); t != nil {
			t.Add(resolver.Step{
				Stage: "ddds", Code: "rule_failed", Values: []any{"Domain", key},
				Public: fmt.Sprintf("%s: %s failed", key, m.record),
			}, "%s: %s failed: %s", key, m.record, err)
		}
	}
	return resolver.Answer{}, first
}

// choose looks up the rules of a domain, and returns a selection with at least one usable rule, or an error.
func (w *walk) choose(ctx context.Context, key string) (selection, error) {
	if w.path[key] {
		return selection{}, w.notFound("rules_loop", []string{"Domain", key}, "rules form a loop at "+key)
	}
	if len(w.path) == w.limit {
		return selection{}, w.notFound("rules_too_deep", nil,
			fmt.Sprintf("rules chain through more than %d domains", w.limit))
	}
	w.lookups++
	if w.lookups > w.limit*w.limit {
		return selection{}, w.notFound("rules_too_deep", nil, "rules chain through too many domains")
	}
	w.path[key] = true
	w.observer.step()
	records, info, err := w.lookup.NAPTR(ctx, key)
	if err != nil {
		delete(w.path, key)
	}
	if err != nil && len(w.path) == 0 && errors.Is(err, resolver.ErrNotFound) {
		return selection{}, fmt.Errorf("%w: %w", errNoDelegation, err)
	}
	if err != nil {
		return selection{}, w.lookupError(err)
	}
	w.dependOn(info, key+" "+naptrType)
	s, err := choose(ctx, w.aus, records, w.query.Service, w.work)
	if err != nil {
		return selection{}, err
	}
	w.observer.skipped(s)
	w.trace(ctx, key, info.TTL, s)
	if len(s.usable) == 0 {
		return selection{}, w.noneUsable(key, s)
	}
	return s, nil
}

// noneUsable returns the error of a selection without a usable rule.
func (w *walk) noneUsable(key string, s selection) error {
	switch {
	case s.matched && s.long:
		return fmt.Errorf("%w: %w by the rules of %s", resolver.ErrUnreachable, errLong, key)
	case s.matched:
		return &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: key + " has no usable service",
			Code: "rules_not_usable", Values: []string{"Domain", key}, TTL: w.ttl,
		}
	case s.outOfWork && !s.matched:
		return fmt.Errorf("%w: %w by the rules of %s", resolver.ErrUnreachable, errWork, key)
	case s.excess > 0:
		return fmt.Errorf("%w: none of the first %d rules of %s matches this name; the other %d "+
			"are not used", resolver.ErrUnreachable, maxRules, key, s.excess)
	default:
		return w.notFound("no_rule_of_domain", []string{"Domain", key}, "no rule of "+key+" matches this name")
	}
}

// dependOn records that the answer depends on a record set.
func (w *walk) dependOn(info RRsetInfo, set string) {
	w.limitTTL(info.TTL, set)
	w.unauthenticated = w.unauthenticated || !info.Authentic
}

// limitTTL limits the TTL of the answer to that of a dependency (RFC 3402 section 3.3).
func (w *walk) limitTTL(ttl time.Duration, what string) {
	if w.ttl < 0 || ttl < w.ttl {
		w.ttl, w.shortest = ttl, what
	}
}

// notFound returns an authoritative negative answer with the TTL of the records used.
func (w *walk) notFound(code string, values []string, reason string) error {
	return &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: reason,
		Code: code, Values: values, TTL: max(w.ttl, 0),
	}
}

// lookupError converts the error of a lookup required by a rule: a negative answer is authoritative, any other
// error is a failure.
func (w *walk) lookupError(err error) error {
	var n *resolver.Negative
	if !errors.As(err, &n) {
		return err
	}
	w.limitTTL(n.TTL, "the answer that "+n.Reason)
	return w.notFound(n.Code, n.Values, n.Reason)
}

func (w *walk) trace(ctx context.Context, key string, ttl time.Duration, s selection) {
	t := resolver.TraceOf(ctx)
	if t == nil {
		return
	}
	if s.excess > 0 {
		t.Add(resolver.Step{Stage: "warning", Code: "many_rules", Values: []any{"Domain", key, "Number", maxRules}},
			"%s has %d rules; only the first %d by order and preference are used", key, maxRules+s.excess, maxRules)
	}
	if s.outOfWork {
		t.Add(resolver.Step{Stage: "warning", Code: "costly_rules", Values: []any{"Domain", key}},
			"%s: matching the rules exceeds the budget of one name (%d bytes times instructions); some were "+
				"not tried", key, maxWork)
	}
	for _, p := range s.skipped {
		rule := p.record.traced(key, ttl)
		rule.Matched, rule.Result, rule.Reason, rule.ReasonCode = p.matched, p.key, p.reason, string(p.kind)
		t.Add(resolver.Step{Stage: "ddds", Code: "rule_skipped", Values: []any{"Domain", key}, Rule: rule},
			"%s: skipped %s: %s", key, p.record, p.reason)
	}
	for i, m := range s.usable {
		rule := m.record.traced(key, ttl)
		rule.Matched, rule.Result, rule.Use = m.matched, m.key, resolver.RulePossible
		verb, code := "could use", "rule_possible"
		if i == 0 {
			verb, code, rule.Use = "used", "rule_used", resolver.RuleUsed
		}
		t.Add(resolver.Step{Stage: "ddds", Code: code, Values: []any{"Domain", key}, Rule: rule}, "%s: %s %s -> %s",
			key, verb, m.record, m.key)
	}
}
