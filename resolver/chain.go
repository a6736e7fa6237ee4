package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Member is one resolver of a Chain, with its name in the configuration and in traces.
type Member struct {
	Name string
	Resolver
	// History means that the member also answers queries as of a time (Query.At). Other members are skipped for
	// them.
	History bool
}

// ChainConfig is the configuration of a Chain.
type ChainConfig struct {
	Members []Member
	Order   []string            // names of members, first to last
	Orders  map[string][]string // overrides Order, by NID in lower case
	// Fallback is queried if no member answers; it may be nil.
	Fallback Resolver
	// Unknown is the kind of the negative answer for names that no member supports, such as ErrNotFound.
	Unknown error
}

// WithFirst returns the configuration with a member in front of all others, in every order.
func (c ChainConfig) WithFirst(member Member) ChainConfig {
	c.Members = append(slices.Clone(c.Members), member)
	c.Order = append([]string{member.Name}, c.Order...)
	orders := make(map[string][]string, len(c.Orders))
	for nid, order := range c.Orders {
		orders[nid] = append([]string{member.Name}, order...)
	}
	c.Orders = orders
	return c
}

// Chain queries its members in order. After ErrUnsupported it queries the next member; every other outcome is
// final: an answer, ErrNotFound, or a failure.
type Chain struct {
	order   []Member
	orders  map[string][]Member // by NID
	unknown error
}

// NewChain returns a Chain. Unknown names in an order are an error.
func NewChain(config ChainConfig) (*Chain, error) {
	var failures []error
	pick := func(names []string) []Member {
		var picked []Member
		for _, name := range names {
			i := slices.IndexFunc(config.Members, func(m Member) bool { return m.Name == name })
			if i < 0 {
				failures = append(failures, fmt.Errorf("unknown resolver %q", name))
				continue
			}
			picked = append(picked, config.Members[i])
		}
		if config.Fallback != nil {
			picked = append(picked, Member{Name: "fallback", Resolver: config.Fallback})
		}
		return picked
	}
	c := &Chain{
		order: pick(config.Order), orders: make(map[string][]Member, len(config.Orders)),
		unknown: config.Unknown,
	}
	for nid, names := range config.Orders {
		c.orders[nid] = pick(names)
	}
	return c, errors.Join(failures...)
}

// Resolve implements Resolver for URNs in canonical form.
func (c *Chain) Resolve(ctx context.Context, q Query) (Answer, error) {
	nid := q.NID()
	// I2R and I2Rs are built on other services, and I=I needs no resolver.
	if q.Service == I2R || q.Service == I2Rs || q.Service == IisI {
		return Answer{}, &Negative{
			Kind: ErrService, Reason: q.Service.String() + " is not offered for " + nid,
			Code: "service_not_for_name", Values: []string{"Service", q.Service.String()},
		}
	}
	members, ok := c.orders[nid]
	if !ok {
		members = c.order
	}
	var tried []string
	ttl := Forever
	for _, m := range members {
		if !q.At.IsZero() && !m.History {
			continue
		}
		answer, err := m.Resolve(ctx, q)
		if t := TraceOf(ctx); t != nil {
			t.Add(outcomeStep(m.Name, answer, err), "%s", outcome(answer, err))
		}
		if !errors.Is(err, ErrUnsupported) {
			// The outcome depends on every ErrUnsupported before it.
			return answer.LimitTTL(ttl), LimitTTL(err, ttl)
		}
		reason := err.Error()
		var n *Negative
		if errors.As(err, &n) {
			reason, ttl = n.Reason, min(ttl, n.TTL)
		}
		tried = append(tried, m.Name+": "+reason)
	}
	code := "known_nowhere"
	if len(tried) == 0 {
		code, tried = "no_system", []string{"no resolver configured"}
	}
	if ttl == Forever { // no server was queried, so caching would save no work
		ttl = 0
	}
	return Answer{}, &Negative{
		Kind: c.unknown, Reason: "tried " + strings.Join(tried, "; "),
		Code: code, TTL: ttl, Unclaimed: true,
	}
}

// PublicOutcome returns the public text of an error in a trace. For a failure it is generic, since the text of
// the error may contain addresses of the internal network. It is "" if the error's own text may be shown: for a
// negative answer, or no error.
func PublicOutcome(err error) string {
	var n *Negative
	if err == nil || errors.As(err, &n) {
		return ""
	}
	return "failed"
}

// outcomeStep returns the trace step for the outcome of one member.
func outcomeStep(stage string, answer Answer, err error) Step {
	s := Step{Stage: stage, Code: "location_found"}
	switch {
	case err != nil:
		s = FailedStep(stage, err)
	case len(answer.Locations) == 0:
		s.Code = "no_location"
	default:
		s.Values = []any{"Location", answer.Locations[0].URI}
	}
	return s
}

// FailedStep returns a step with the error of a query: for a negative answer its code, for any other error a
// generic failure.
func FailedStep(stage string, err error) Step {
	var n *Negative
	switch {
	case !errors.As(err, &n):
		return Step{Stage: stage, Code: "failed", Public: PublicOutcome(err)}
	case n.Code == "":
		return Step{Stage: stage, Code: "not_known"}
	}
	s := Step{Stage: stage, Code: n.Code}
	for _, value := range n.Values {
		s.Values = append(s.Values, value)
	}
	return s
}

func outcome(answer Answer, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case len(answer.Locations) == 0:
		return "no location"
	default:
		return answer.Locations[0].URI
	}
}

// Disabled returns a resolver that supports no name, in place of a system that is not configured. reason appears in
// the list of the resolvers that were tried.
func Disabled(reason string) Resolver {
	return Func(func(context.Context, Query) (Answer, error) {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: reason, Code: "system_off", TTL: Forever}
	})
}
