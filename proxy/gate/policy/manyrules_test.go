package policy_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/urnd/urnd/proxy/gate/policy"
)

// manyRules is a policy of n rules by host, by the network of the client, by both, or by destination, with
// the given number of hosts, and a final rule for all others.
func manyRules(t testing.TB, kind string, n, hosts int) *policy.Policy {
	t.Helper()
	rules := make([]policy.Rule, 0, n)
	for i := range n - 1 {
		rule := policy.Rule{ID: fmt.Sprintf("r%d", i), Deny: i%2 == 0, Schemes: []string{"http", "connect"}}
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
		switch kind {
		case "hosts", "both":
			for j := range max(1, hosts/n) {
				rule.Hosts = append(rule.Hosts,
					fmt.Sprintf("%ssite-%d-%d.example", [...]string{".", "www."}[j%2], i, j))
			}
		case "one host":
			rule.Hosts = []string{".example.org"}
		case "destinations":
			rule.Destinations, rule.Deny = []netip.Prefix{network}, true
		}
		if kind == "clients" || kind == "both" || kind == "one host" {
			rule.Clients = []netip.Prefix{network}
		}
		rules = append(rules, rule)
	}
	return newPolicy(t, policy.ModeEnforce, append(rules, policy.Rule{ID: "rest", Deny: true})...)
}

// The cost of a decision does not grow with the number of rules and hosts.
func BenchmarkManyRules(b *testing.B) {
	for _, kind := range []string{"hosts", "clients", "both", "one host", "destinations"} {
		for _, n := range []int{10, 1_000, 10_000} {
			p := manyRules(b, kind, n, 100_000)
			last := n - 2
			hit := request()
			hit.Host = fmt.Sprintf("a.b.site-%d-0.example", last)
			hit.Client = netip.AddrFrom4([4]byte{10, byte(last >> 8), byte(last), 1})
			if kind == "one host" {
				hit.Host = "www.example.org"
			}
			miss := request()
			miss.Client = netip.MustParseAddr("192.0.2.1")
			for name, r := range map[string]policy.Request{"hit": hit, "miss": miss} {
				b.Run(fmt.Sprintf("%s/%d/%s", kind, n, name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if d := p.Decide(r); !d.Final {
							p.DecideFor(r, r.Client)
						}
					}
				})
			}
		}
	}
}

func TestDecideByManyRulesAllocatesNothing(t *testing.T) {
	for _, kind := range []string{"hosts", "clients", "both", "one host", "destinations"} {
		p := manyRules(t, kind, 100, 1000)
		r := request()
		r.Host = "a.b.site-7-0.example"
		if n := testing.AllocsPerRun(100, func() {
			p.Decide(r)
			p.DecideFor(r, netip.Addr{})
			p.DecideFor(r, r.Client)
		}); n > 0 {
			t.Errorf("%s: %g allocations", kind, n)
		}
	}
}

// BenchmarkNew makes the policy of 10,000 rules with 100,000 hosts, and that of one rule with as many.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{2, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				manyRules(b, "hosts", n, 100_000)
			}
		})
	}
}
