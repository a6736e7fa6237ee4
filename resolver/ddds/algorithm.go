package ddds

import (
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
func choose(aus string, records []NAPTR, want resolver.Service) selection {
	var s selection
	pass := func(r NAPTR, reason string) { s.passed = append(s.passed, passed{r, reason}) }
	locked := uint16(0)
	for _, r := range sorted(records) {
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
	return s
}

// usable reports whether urnd can follow a rule that matched.
func (m match) usable(want resolver.Service) error {
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
