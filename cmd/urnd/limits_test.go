package main

import (
	"fmt"
	"testing"

	"github.com/urnd/urnd/config"
)

// An address has limits.client_share of each limit, and a network limits.network_factor times that. A reload
// preserves the acquired slots if neither is changed.
func TestSharesOfLimits(t *testing.T) {
	c := config.Default().Limits
	c.Requests, c.Fetches, c.Streams, c.Outgoing, c.ClientShare, c.NetworkFactor = 100, 200, 400, 800, 10, 3
	first := newLimits(c, nil)
	for name, bounds := range map[string]func() (int, int){
		"10 30": first.resolutions.Clients.Bounds, "20 60": first.fetches.Clients.Bounds,
		"40 120": first.streams.Clients.Bounds,
	} {
		if most, networks := bounds(); name != fmt.Sprint(most, networks) {
			t.Errorf("%d and %d, not %s", most, networks, name)
		}
	}
	again := newLimits(c, &resolution{limits: first})
	if again.fetches.Clients != first.fetches.Clients {
		t.Error("a reload forgets the holders of limits")
	}
	c.NetworkFactor = 4
	if other := newLimits(c, &resolution{limits: first}); other.fetches.Clients == first.fetches.Clients {
		t.Error("a reload does not change the share of a network")
	}
}
