package netguard_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

// TestWith checks that an additional check cannot allow what the guard rejects.
func TestWith(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	refuse := func(port uint16, why error) func(netip.AddrPort) error {
		return func(a netip.AddrPort) error {
			if a.Port() == port {
				return why
			}
			return nil
		}
	}
	plain := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
	guard := plain.WithCheck(refuse(1, first)).WithCheck(nil).WithCheck(refuse(2, second))
	for address, want := range map[string]error{
		"127.0.0.1:1": first, "127.0.0.1:2": second, "127.0.0.1:3": nil, "10.0.0.1:3": netguard.ErrForbidden,
		"[::ffff:127.0.0.1]:1": first,
	} {
		if err := guard.Check(netip.MustParseAddrPort(address)); !errors.Is(err, want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := plain.Check(netip.MustParseAddrPort("127.0.0.1:1")); err != nil {
		t.Errorf("the guard before: %v", err)
	}
	if _, err := guard.DialContext(t.Context(), "tcp", "127.0.0.1:1"); !errors.Is(err, first) {
		t.Errorf("dialling: %v", err)
	}
}
