package main

import (
	"fmt"
	"testing"

	"github.com/urnd/urnd/config"
)

// Of each limit an address has limits.client_share, and a network limits.network_factor times that. A reload keeps the
// shares that are held, where neither is changed.
func TestSharesOfLimits(t *testing.T) {
	c := config.Default().Limits
	c.Requests, c.Fetches, c.Streams, c.Outgoing, c.ClientShare, c.NetworkFactor = 100, 200, 400, 800, 10, 3
	first := newSlots(c, nil)
	for name, bounds := range map[string]func() (int, int){
		"10 30": first.resolutions.Shares.Bounds, "20 60": first.fetches.Shares.Bounds, "40 120": first.streams.Shares.Bounds,
	} {
		if most, networks := bounds(); name != fmt.Sprint(most, networks) {
			t.Errorf("%d and %d, not %s", most, networks, name)
		}
	}
	again := newSlots(c, &resolution{slots: first})
	if again.fetches.Shares != first.fetches.Shares {
		t.Error("a reload forgets who holds what")
	}
	c.NetworkFactor = 4
	if other := newSlots(c, &resolution{slots: first}); other.fetches.Shares == first.fetches.Shares {
		t.Error("a reload does not change the share of a network")
	}
}
