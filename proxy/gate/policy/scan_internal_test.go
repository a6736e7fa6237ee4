package policy

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// scan is the reference of the index: it compares each rule in order, and each value of its conditions.
type scan []Rule

func (s scan) decide(r Request) Decision {
	depends := false
	for _, rule := range s {
		switch inside := len(rule.Destinations) > 0; {
		case !scanHolds(rule, r):
		case inside && rule.Deny:
			depends = true
		case inside || depends && !rule.Deny:
			return Decision{}
		default:
			return Decision{Rule: rule.ID, Deny: rule.Deny, Final: true}
		}
	}
	return Decision{Final: !depends}
}

func (s scan) decideFor(r Request, destination netip.Addr) Decision {
	for _, rule := range s {
		leads := scanRanges(rule.Destinations, destination) || rule.Deny && !destination.IsValid()
		if leads && scanHolds(rule, r) {
			return Decision{Rule: rule.ID, Deny: rule.Deny, Final: true}
		}
	}
	return Decision{Final: true}
}

func scanHolds(rule Rule, r Request) bool {
	isMethod := func(m string) bool { return m == r.Method || rule.Deny && strings.EqualFold(m, r.Method) }
	isHost := func(text string) bool {
		h, err := parseHost(text)
		return err == nil && h.holds(r.Host, r.Literal())
	}
	return scanRanges(rule.Clients, r.Client) &&
		(len(rule.Users) == 0 || slices.Contains(rule.Users, r.User)) &&
		(len(rule.Methods) == 0 || slices.ContainsFunc(rule.Methods, isMethod)) &&
		(len(rule.Schemes) == 0 ||
			slices.ContainsFunc(rule.Schemes, func(word string) bool { return schemeOf(word) == r.Scheme })) &&
		(len(rule.Hosts) == 0 || slices.ContainsFunc(rule.Hosts, isHost)) &&
		(len(rule.Ports) == 0 ||
			slices.ContainsFunc(rule.Ports, func(p PortRange) bool { return p.First <= r.Port && r.Port <= p.Last }))
}

func scanRanges(all []netip.Prefix, addr netip.Addr) bool {
	return len(all) == 0 || slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(plain(addr)) })
}

// some returns none, one or more of the values: there are few of each condition, so that rules share them and
// requests match.
func some[T any](random *rand.Rand, values []T, chance float64) []T {
	var chosen []T
	for random.Float64() < chance {
		chosen = append(chosen, values[random.IntN(len(values))])
		if random.IntN(12) == 0 { // long enough to be compared by look-ups
			chosen = append(chosen, values...)
		}
	}
	return chosen
}

func networksOf(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

func randomRule(random *rand.Rand, number int) Rule {
	networks := networksOf("10.0.0.0/8", "10.1.2.3/16", "10.1.2.0/24", "10.1.2.3/32", "192.0.2.0/24", "0.0.0.0/0",
		"::/0", "2001:db8::/32",
		"2001:db8::1/128", "fe80::/10")
	hosts := []string{
		"a.example", ".a.example", "b.a.example", ".b.a.example", ".example", "c.example.", "*.a.example",
		"?.a.example", "*.*", "a.*", "a*.example", "*.c-?.example", "localhost", "?", "*a*.b.a.example", "192.0.2.0/24",
		"192.0.2.1", "10.1.2.3", "[2001:db8::1]", "2001:db8::/32", "::/0", "B.A.Example", "192.0.2", ".2.1",
		"fe80::1%lo",
	}
	chance := []float64{0.1, 0.3, 0.6}[random.IntN(3)]
	return Rule{
		ID:      fmt.Sprintf("rule-%d", number),
		Deny:    random.IntN(2) == 0,
		Clients: some(random, networks, chance), Users: some(random, []string{"ann", "bob", "eve"}, chance),
		Methods: some(random, []string{"GET", "POST", "get"}, 0.1),
		Schemes: some(random, []string{"HTTP", "https", "connect"}, 0.1), Hosts: some(random, hosts, chance),
		Ports:        some(random, []PortRange{{80, 80}, {1, 443}, {8000, 8999}}, 0.1),
		Destinations: some(random, networks, chance/2),
	}
}

func randomAddr(random *rand.Rand) netip.Addr {
	texts := []string{
		"10.1.2.3", "10.1.9.9", "10.9.9.9", "192.0.2.1", "198.51.100.1", "2001:db8::1", "2001:db8::2",
		"fe80::1%lo", "::ffff:10.1.2.3", "::",
	}
	if i := random.IntN(len(texts) + 1); i < len(texts) {
		return netip.MustParseAddr(texts[i])
	}
	return netip.Addr{}
}

func randomRequest(random *rand.Rand) Request {
	choose := func(values ...string) string { return values[random.IntN(len(values))] }
	return Request{
		Client: randomAddr(random), User: choose("", "ann", "bob", "Ann"),
		Method: choose("GET", "get", "POST", "CONNECT"), Scheme: choose("", "http", "https"),
		Port: []uint16{0, 80, 443, 8080}[random.IntN(4)],
		Host: choose("", "a.example", "b.a.example", "x.b.a.example", "x.a.example", "c.example", "x.c-1.example",
			"example", "localhost", "a", "a.",
			".a.example", "a..example", "aa.example", "ba.example", "xa.b.a.example", "192.0.2.1", "192.0.2",
			"10.1.2.3", "2001:db8::1", "::ffff:192.0.2.1",
			"fe80::1%lo", strings.Repeat("x.", 300)+"a.example"),
	}
}

// FuzzIndex compares the index with a scan, for rules and requests generated from a seed.
func FuzzIndex(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, count uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		var rules scan
		for i := range int(count) {
			rules = append(rules, randomRule(random, i))
		}
		p, err := New(ModeEnforce, rules)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			r, destination := randomRequest(random), randomAddr(random)
			if got, want := p.Decide(r), rules.decide(r); got != want {
				t.Errorf("%+v: %+v, and by a scan %+v", r, got, want)
			}
			if got, want := p.DecideFor(r, destination), rules.decideFor(r, destination); got != want {
				t.Errorf("%+v to %v: %+v, and by a scan %+v", r, destination, got, want)
			}
		}
	})
}
