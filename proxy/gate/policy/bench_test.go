package policy_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/proxy/gate/policy"
)

// manyHosts is a typical policy with a long list: one rule of n hosts.
func manyHosts(t testing.TB, n int) *policy.Policy {
	list := make([]string, 0, n)
	for i := range n / 2 {
		list = append(list, fmt.Sprintf(".tracker-%d.example", i), fmt.Sprintf("www.site-%d.example", i))
	}
	return newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "list", Deny: true, Hosts: list}, policy.Rule{
		ID: "internal", Deny: true,
		Destinations: ranges("10.0.0.0/8"),
	})
}

func TestDecideAllocatesNothing(t *testing.T) {
	p := manyHosts(t, 100)
	for _, host := range []string{"a.b.tracker-7.example", "www.example.org", "192.0.2.1", "2001:db8::1", "host.7"} {
		r := request()
		r.Host = host
		if n := testing.AllocsPerRun(100, func() {
			p.Decide(r)
			p.DecideFor(r, netip.MustParseAddr("10.1.2.3"))
		}); n > 0 {
			t.Errorf("%s: %g allocations", host, n)
		}
	}
}

// A decision costs one look-up per label of the host, however many hosts a rule has.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{2, 100, 10_000, 100_000} {
		p := manyHosts(b, n)
		for _, host := range []string{"www.example.org", "a.b.c.d.e.f.example.org", "192.0.2.1"} {
			b.Run(fmt.Sprintf("%d/%s", n, host), func(b *testing.B) {
				r := request()
				r.Host = host
				b.ReportAllocs()
				for b.Loop() {
					p.Decide(r)
				}
			})
		}
	}
}
