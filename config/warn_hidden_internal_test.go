package config

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

// TestHidersMatchScan requires that the index finds the same rule as a comparison with all rules.
func TestHidersMatchScan(t *testing.T) {
	hosts := []string{
		"a.example", ".a.example", "b.a.example.", ".B.a.example", ".example", "*.a.example", "?.a.example", "*.*",
		"a.*", "x*.example", "*.c-?.example", "?", "192.0.2.0/24", "192.0.2.1", "192.0.2.7/25", "[2001:db8::1]",
		"2001:db8::/32", "::/0", "192.0.2", ".2.1",
		"::ffff:192.0.2.1",
	}
	var networks []netip.Prefix
	for _, text := range []string{
		"10.0.0.0/8", "10.1.2.3/16", "10.1.2.0/24", "10.1.2.3/32", "0.0.0.0/0", "::/0",
		"2001:db8::/32", "2001:db8::1/128",
	} {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	hidden := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		few := func() bool { return random.IntN(5) < 2 }
		var rules []ProxyRule
		index := make(hiders)
		for range 50 {
			r := ProxyRule{Action: []string{"allow", "deny"}[random.IntN(2)]}
			for few() {
				r.Hosts = append(r.Hosts, hosts[random.IntN(len(hosts))])
			}
			for few() {
				r.Clients = append(r.Clients, networks[random.IntN(len(networks))])
			}
			for few() {
				r.Destinations = append(r.Destinations, networks[random.IntN(len(networks))])
			}
			for few() {
				r.Users = append(r.Users, []string{"ann", "bob", "eve"}[random.IntN(3)])
			}
			for few() {
				r.Ports = append(r.Ports, []PortRange{{80, 80}, {1, 443}}[random.IntN(2)])
			}
			want := slices.IndexFunc(rules, func(b ProxyRule) bool { return b.hides(r) })
			if got := index.first(r, rules); got != want {
				t.Fatalf("%+v is hidden by rule %d, and by a scan %d of\n%+v", r, got, want, rules)
			}
			if want > 0 {
				hidden++
			}
			if r.hasNoCondition() {
				continue // it hides all
			}
			rules = append(rules, r)
			index.add(r, len(rules)-1)
		}
	}
	if hidden < 100 {
		t.Errorf("only %d rules were hidden", hidden)
	}
}
