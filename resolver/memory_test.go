package resolver_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/resolver"
)

func TestMemory(t *testing.T) {
	const unit = resolver.MemoryUnit
	busy, full := errors.New("busy"), errors.New("full")
	a, b, c := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.3")
	slots := make(resolver.Slots, 10)
	memory := resolver.Memory{Quota: resolver.Quota{Slots: slots, Shares: resolver.NewShares(6, 6, busy), Busy: full}}
	hold := func(client netip.Addr, octets int64, want error, used int) *resolver.Held {
		t.Helper()
		h, err := memory.Hold(client, octets)
		if !errors.Is(err, want) || (err == nil) != (want == nil) || len(slots) != used {
			t.Errorf("%d octets of %s: %v, want %v; %d slots are used, want %d", octets, client, err, want, len(slots), used)
		}
		return &h
	}
	small := hold(a, 4<<10, nil, 0)
	for _, octets := range []int64{4<<10 + 1, 60 << 10, unit} { // many of these are as much memory as one that is large
		hold(a, octets, nil, 1).Release()
	}
	first := hold(a, 4*unit, nil, 4)
	hold(a, 3*unit, busy, 4) // what it got of them is given back
	second := hold(b, 100*unit, nil, 10)
	hold(c, unit, full, 10)
	if err := second.Resize(unit + 5); err != nil || len(slots) != 6 {
		t.Errorf("fewer: %v, %d slots", err, len(slots))
	}
	if err := first.Resize(6 * unit); err != nil || len(slots) != 8 {
		t.Errorf("more: %v, %d slots", err, len(slots))
	}
	if err := second.Resize(6 * unit); !errors.Is(err, full) || len(slots) != 6 {
		t.Errorf("too many: %v, %d slots", err, len(slots))
	}
	for range 2 {
		first.Release()
		second.Release()
		small.Release()
	}
	if len(slots) != 0 {
		t.Errorf("%d slots are left", len(slots))
	}
	var none resolver.Memory
	if h, err := none.Hold(a, 1<<60); err != nil {
		t.Error(err)
	} else {
		h.Release()
	}
	memory.Shares = nil
	hold(c, 100*unit, nil, 10)
}
