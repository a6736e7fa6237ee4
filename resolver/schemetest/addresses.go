package schemetest

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

var errRefused = errors.New("denied by the test")

// checkRefusedAddress has a Request.Check that denies all addresses: it must prevent new connections as well as
// the reuse of idle ones.
func checkRefusedAddress(t *testing.T, s Suite) {
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	refuse := func(which, text string) {
		t.Helper()
		before := r.server.connections()
		q := request(t, http.MethodGet, text)
		q.Check = func(netip.AddrPort) error { return errRefused }
		got := within(t, "a refused address", func() outcome { return r.fetch(t.Context(), q) })
		if !errors.Is(got.err, errRefused) {
			t.Errorf("%s of a denied address: %s", which, got)
		}
		if r.server.connections() != before {
			t.Errorf("%s: connected to a denied address", which)
		}
	}
	for which, text := range r.uris() {
		refuse(which, text)
	}
	for which, text := range r.uris() {
		if got := r.get(t, text); got.err != nil {
			t.Errorf("%s after a denied one: %v", which, got.err)
		}
		refuse(which+", with a possible idle connection", text)
	}
}

// checkAddresses requires that each connection is dialed by the given Dial, with Request.Check.
func checkAddresses(t *testing.T, s Suite) {
	for which := range s.names() {
		r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
		var mu sync.Mutex
		checked := make(map[netip.AddrPort]bool)
		q := request(t, http.MethodGet, r.uris()[which])
		q.Check = func(a netip.AddrPort) error {
			mu.Lock()
			defer mu.Unlock()
			checked[a] = true
			return nil
		}
		got := within(t, "fetching "+which, func() outcome { return r.fetch(t.Context(), q) })
		if got.err != nil {
			t.Errorf("the %s: %v", which, got.err)
		}
		addresses := r.dialer.addresses()
		for _, address := range addresses {
			if !checked[address] {
				t.Errorf("%s: connected to %s without Request.Check", which, address)
			}
		}
		if accepted := r.server.connections(); accepted != len(addresses) {
			t.Errorf("%s: %d connections, %d of them by Config.Dial", which, accepted, len(addresses))
		}
		r.close(t)
		if slices.ContainsFunc(addresses, func(a netip.AddrPort) bool { return a != addresses[0] }) {
			checkFirstAddress(t, s, which)
		}
	}
}

// checkFirstAddress denies all addresses except that of the URI.
func checkFirstAddress(t *testing.T, s Suite, which string) {
	t.Helper()
	r := s.start(t, Server{Names: plainNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	q := request(t, http.MethodGet, r.uris()[which])
	q.Check = func(a netip.AddrPort) error {
		if a.String() != r.server.address() {
			return errRefused
		}
		return nil
	}
	if got := within(t, "a refused second address",
		func() outcome { return r.fetch(t.Context(), q) }); !errors.Is(got.err, errRefused) {
		t.Errorf("%s with a denied second address: %s", which, got)
	}
}
