package ddds

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urnd/urnd/resolver"
)

// Reason says in one word why a record was skipped.
type Reason string

// The reasons. There are no others: they can be counted apart.
const (
	ReasonFlags    Reason = "flags"    // unknown, or more than one
	ReasonOrder    Reason = "order"    // another order has matched
	ReasonNoMatch  Reason = "no_match" // it is for other names
	ReasonInvalid  Reason = "invalid"  // it is no rule at all
	ReasonKey      Reason = "key"      // its result cannot be used
	ReasonServices Reason = "services" // what is wanted is not offered
	ReasonProtocol Reason = "protocol" // nobody here speaks it
	ReasonExcess   Reason = "excess"   // too many stand before it
)

// skipped is a record that was skipped, with the reason.
type skipped struct {
	record NAPTR
	kind   Reason
	reason string
}

// selection is what one record set makes of an application unique string.
type selection struct {
	usable  []match // of one order, best first
	skipped []skipped
	matched bool // some record matched, usable or not
	excess  int  // records that were not looked at
}

// choose applies the records of one domain to aus, by RFC 3402 section 3.3 and
// RFC 3404 section 6: unknown flags are skipped before all else; then by
// order and preference; the first record that matches locks its order, whether
// or not its services are of use; a bad record skips itself alone.
//
// It stops when ctx ends: expressions may take their time.
func choose(ctx context.Context, aus string, records []NAPTR, want resolver.Service) (selection, error) {
	var s selection
	skip := func(r NAPTR, kind Reason, reason string) { s.skipped = append(s.skipped, skipped{r, kind, reason}) }
	locked := uint16(0)
	for i, r := range sorted(records) {
		if ctx.Err() != nil {
			return selection{}, context.Cause(ctx)
		}
		if i == maxRules {
			s.excess = len(records) - maxRules
			skip(r, ReasonExcess, fmt.Sprintf("it stands behind %d others, and so do all that follow", maxRules))
			break
		}
		flag, ok := r.flag()
		if !ok {
			skip(r, ReasonFlags, fmt.Sprintf("flags %q are unknown", r.Flags))
			continue
		}
		if s.matched && r.Order != locked {
			skip(r, ReasonOrder, fmt.Sprintf("order %d already matched", locked))
			continue
		}
		m, err := r.apply(aus, flag)
		if err != nil {
			kind := ReasonInvalid
			if errors.Is(err, errNoMatch) {
				kind = ReasonNoMatch
			}
			skip(r, kind, err.Error())
			continue
		}
		s.matched, locked = true, r.Order
		if kind, err := m.usable(want); err != nil {
			skip(r, kind, err.Error())
			continue
		}
		s.usable = append(s.usable, m)
	}
	// Within an order one may look for a better candidate (RFC 3404 section 4.4.3).
	slices.SortStableFunc(s.usable, func(a, b match) int { return a.rank() - b.rank() })
	return s, nil
}

// rank puts what others have to speak with behind all else.
func (m match) rank() int {
	if p, ok := lookupProtocol(m.services.protocol); m.flag != 0 && m.flag != 'U' && ok && !p.asked {
		return 1
	}
	return 0
}

// maxRules bounds the rules of one domain that are looked at; no zone of sense
// comes near.
const maxRules = 100

// usable reports whether urnd can follow a rule that matched, and if not, why.
func (m match) usable(want resolver.Service) (Reason, error) {
	if m.fault != nil {
		return ReasonKey, m.fault
	}
	if m.flag != 0 && !m.services.offers(want) && (m.flag == 'U' || !m.services.leadsToResource(want)) {
		return ReasonServices, fmt.Errorf("services %q do not offer %s", m.record.Services, want)
	}
	switch m.flag {
	case 'S', 'A', 'P':
		if _, ok := lookupProtocol(m.services.protocol); !ok {
			return ReasonProtocol, fmt.Errorf("protocol %q is not spoken", m.services.protocol)
		}
	}
	return "", nil
}
