package ddds

import (
	"context"
	"errors"
	"fmt"

	"github.com/urnd/urnd/resolver"
)

// passed is a record that was passed over, with the reason.
type passed struct {
	record NAPTR
	reason string
}

// selection is what one record set makes of an application unique string.
type selection struct {
	usable  []match // of one order, best first
	passed  []passed
	matched bool // some record matched, usable or not
}

// choose applies the records of one domain to aus, by RFC 3402 section 3.3 and
// RFC 3404 section 6: unknown flags are passed over before all else; then by
// order and preference; the first record that matches locks its order, whether
// or not its services are of use; a bad record passes over itself alone.
//
// It stops when ctx ends: expressions may take their time.
func choose(ctx context.Context, aus string, records []NAPTR, want resolver.Service) (selection, error) {
	var s selection
	pass := func(r NAPTR, reason string) { s.passed = append(s.passed, passed{r, reason}) }
	locked := uint16(0)
	for i, r := range sorted(records) {
		if ctx.Err() != nil {
			return selection{}, context.Cause(ctx)
		}
		if i == maxRules {
			pass(r, fmt.Sprintf("it stands behind %d others", maxRules))
			break
		}
		flag, ok := r.flag()
		if !ok {
			pass(r, fmt.Sprintf("flags %q are unknown", r.Flags))
			continue
		}
		if s.matched && r.Order != locked {
			pass(r, fmt.Sprintf("order %d already matched", locked))
			continue
		}
		m, err := r.apply(aus, flag)
		if err != nil {
			pass(r, err.Error())
			continue
		}
		s.matched, locked = true, r.Order
		if err := m.usable(want); err != nil {
			pass(r, err.Error())
			continue
		}
		s.usable = append(s.usable, m)
	}
	return s, nil
}

// maxRules bounds the rules of one domain that are looked at; no zone of sense
// comes near.
const maxRules = 100

// usable reports whether urnd can follow a rule that matched.
func (m match) usable(want resolver.Service) error {
	if m.fault != nil {
		return m.fault
	}
	if m.flag != 0 && !m.services.offers(want) {
		return fmt.Errorf("services %q do not offer %s", m.record.Services, want)
	}
	switch m.flag {
	case 'P':
		return errors.New(`flag "P" leaves DDDS for a protocol that is not spoken`)
	case 'S', 'A':
		if _, ok := thttpScheme(m.services.protocol); !ok {
			return fmt.Errorf("protocol %q is not spoken", m.services.protocol)
		}
	}
	return nil
}

// thttpScheme returns the URI scheme in which a protocol is spoken: THTTP of
// RFC 2169 is HTTP with an agreement on paths.
func thttpScheme(protocol string) (string, bool) {
	switch protocol {
	case "thttp", "http":
		return "http", true
	case "https":
		return "https", true
	}
	return "", false
}
