package netguard

import "net/netip"

// With returns a Guard like g that does not dial the addresses for which check returns an error,
// in addition to those that g does not dial. nil checks nothing.
func (g *Guard) With(check func(netip.AddrPort) error) *Guard {
	if check == nil {
		return g
	}
	changed := *g
	changed.check = check
	if before := g.check; before != nil {
		changed.check = func(dialled netip.AddrPort) error {
			if err := before(dialled); err != nil {
				return err
			}
			return check(dialled)
		}
	}
	return &changed
}
