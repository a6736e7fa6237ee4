package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Member is one system of a Chain, with the name that configuration and traces
// use for it.
type Member struct {
	Name string
	Resolver
}

// ChainConfig says whom a Chain asks.
type ChainConfig struct {
	Members []Member
	Order   []string            // names of members, first to last
	Orders  map[string][]string // in place of Order, by NID in lower case
	// Last is asked where none of the order answers; nil is nobody.
	Last Resolver
	// Unknown is the kind of "no" for names for which nobody answers, such as
	// ErrNotFound.
	Unknown error
}

// Chain asks its members in order. ErrUnsupported leads to the next one, and
// everything else ends the search: an answer, ErrNotFound, or a failure.
type Chain struct {
	order   []Member
	orders  map[string][]Member // by NID
	unknown error
}

// NewChain returns a Chain. A name in an order that is no member's is an error.
func NewChain(config ChainConfig) (*Chain, error) {
	var faults []error
	pick := func(names []string) []Member {
		var picked []Member
		for _, name := range names {
			i := slices.IndexFunc(config.Members, func(m Member) bool { return m.Name == name })
			if i < 0 {
				faults = append(faults, fmt.Errorf("there is no resolver %q", name))
				continue
			}
			picked = append(picked, config.Members[i])
		}
		if config.Last != nil {
			picked = append(picked, Member{Name: "fallback", Resolver: config.Last})
		}
		return picked
	}
	c := &Chain{order: pick(config.Order), orders: make(map[string][]Member, len(config.Orders)), unknown: config.Unknown}
	for nid, names := range config.Orders {
		c.orders[nid] = pick(names)
	}
	return c, errors.Join(faults...)
}

// Resolve implements Resolver for URNs in canonical form.
func (c *Chain) Resolve(ctx context.Context, q Query) (Answer, error) {
	nid := q.NID()
	if q.Service != I2L && q.Service != I2Ls { // the others are made of locations, or need none
		return Answer{}, &Negative{Kind: ErrService, Reason: q.Service.String() + " is not offered for " + nid}
	}
	members, ok := c.orders[nid]
	if !ok {
		members = c.order
	}
	var tried []string
	ttl := Forever
	for _, m := range members {
		answer, err := m.Resolve(ctx, q)
		if t := TraceOf(ctx); t != nil {
			t.Add(m.Name, "%s", outcome(answer, err))
		}
		if !errors.Is(err, ErrUnsupported) {
			// The outcome rests on each "not mine" that led to it.
			return answer.AtMost(ttl), AtMost(err, ttl)
		}
		reason := err.Error()
		var n *Negative
		if errors.As(err, &n) {
			reason, ttl = n.Reason, min(ttl, n.TTL)
		}
		tried = append(tried, m.Name+": "+reason)
	}
	if len(tried) == 0 {
		tried = []string{"nothing is configured to resolve it"}
	}
	if ttl == Forever { // nobody was asked, and it costs nothing to say so again
		ttl = 0
	}
	return Answer{}, &Negative{Kind: c.unknown, Reason: "tried " + strings.Join(tried, "; "), TTL: ttl}
}

func outcome(answer Answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return answer.Locations[0].URI
}

// Off returns a member that supports nothing and says why: a system that is
// not configured still shows in what was tried.
func Off(reason string) Resolver {
	return Func(func(context.Context, Query) (Answer, error) {
		return Answer{}, &Negative{Kind: ErrUnsupported, Reason: reason, TTL: Forever}
	})
}
