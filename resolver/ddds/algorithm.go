package ddds

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urnd/urnd/resolver"
)

// Reason is why a record was skipped, in one word.
type Reason string

// All reasons, as labels of metrics.
const (
	ReasonFlags    Reason = "flags"    // unknown, or more than one
	ReasonOrder    Reason = "order"    // a record of another order matched
	ReasonNoMatch  Reason = "no_match" // the expression does not match the name
	ReasonInvalid  Reason = "invalid"  // the record is malformed
	ReasonKey      Reason = "key"      // the result is not a usable key
	ReasonServices Reason = "services" // the requested service is not offered
	ReasonProtocol Reason = "protocol" // the protocol is not supported
	ReasonExcess   Reason = "excess"   // beyond the first maxRules records
	ReasonWork     Reason = "work"     // matching would exceed the work limit; records after it are not tried
	ReasonSize     Reason = "size"     // the results exceed the size limit of an answer
)

// skipped is a skipped record with the reason.
type skipped struct {
	record       NAPTR
	kind         Reason
	reason       string
	matched, key string // of the match, if the rule matched
}

// selection is the result of applying a record set to an application unique string.
type selection struct {
	usable  []match // matches of one order, best first
	skipped []skipped
	matched bool // some record matched, usable or not
	excess  int  // number of records beyond maxRules
	// outOfWork means that the work limit was reached, so that the remaining rules were not tried.
	outOfWork bool
	long      bool // some result was too long to be used
}

// choose applies the records of one domain to aus, by RFC 3402 section 3.3 and RFC 3404 section 6: in order of
// order and preference. Records with unknown flags are skipped first. The first record that matches locks its
// order, even if its services are not usable. A malformed record is skipped alone.
//
// It stops when ctx ends, since matching can take long, and when the work limit is reached.
func choose(ctx context.Context, aus string, records []NAPTR, want resolver.Service, work *budget) (selection, error) {
	var s selection
	room := resolver.MaxAnswer
	skip := func(r NAPTR, kind Reason, reason string) {
		s.skipped = append(s.skipped, skipped{record: r, kind: kind, reason: reason})
	}
	skipMatch := func(m match, kind Reason, reason string) {
		s.skipped = append(s.skipped, skipped{m.record, kind, reason, m.matched, m.key})
	}
	locked := uint16(0)
	for i, r := range sorted(records) {
		if ctx.Err() != nil {
			return selection{}, context.Cause(ctx)
		}
		if i == maxRules {
			s.excess = len(records) - maxRules
			skip(r, ReasonExcess,
				fmt.Sprintf("only the first %d records are used; this and all following ones are skipped", maxRules))
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
		m, err := r.apply(aus, flag, work)
		if errors.Is(err, errWork) {
			s.outOfWork = true
			skip(r, ReasonWork, err.Error()+"; the following rules are not tried")
			break
		}
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
			s.long = s.long || errors.Is(err, errLong)
			skipMatch(m, kind, err.Error())
			continue
		}
		if room -= len(m.key); room < 0 {
			skipMatch(m, ReasonSize, fmt.Sprintf("results exceed %d bytes", resolver.MaxAnswer))
			continue
		}
		s.usable = append(s.usable, m)
	}
	// Within an order a client may prefer another candidate (RFC 3404 section 4.4.3).
	slices.SortStableFunc(s.usable, func(a, b match) int { return a.rank() - b.rank() })
	return s, nil
}

// rank sorts protocols that urnd does not implement after all other rules.
func (m match) rank() int {
	if p, ok := lookupProtocol(m.services.protocol); m.flag != 0 && m.flag != 'U' && ok && !p.viaTHTTP {
		return 1
	}
	return 0
}

// maxRules limits the rules of one domain that are applied; real zones have far fewer.
const maxRules = 100

// usable returns an error with its Reason unless urnd can use a rule that matched.
func (m match) usable(want resolver.Service) (Reason, error) {
	if m.failure != nil {
		return ReasonKey, m.failure
	}
	if m.flag != 0 && !m.services.offers(want) &&
		(m.flag == 'U' && !m.services.uNAPTR || !m.services.leadsToResource(want)) {
		return ReasonServices, fmt.Errorf("services %q do not offer %s", m.record.Services, want)
	}
	// A result without a service is a location: neither a description nor another name.
	if m.flag == 'U' && !want.Locates() && (len(m.services.rs) == 0 || singular(want) == resolver.I2N) {
		return ReasonServices, fmt.Errorf("services %q do not offer %s", m.record.Services, want)
	}
	switch m.flag {
	case 'S', 'A', 'P':
		p, ok := lookupProtocol(m.services.protocol)
		if !ok || !p.viaTHTTP && !want.Locates() {
			return ReasonProtocol, fmt.Errorf("protocol %q is not supported for %s", m.services.protocol, want)
		}
	}
	return "", nil
}
