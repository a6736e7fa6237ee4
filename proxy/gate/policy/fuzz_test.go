package policy_test

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/urnd/urnd/proxy/gate/policy"
)

// isHost reports whether a host matches a host of a rule, by the words of the documentation: without an
// index, and by a regular expression.
func isHost(text, host string) bool {
	text = strings.TrimSuffix(strings.ToLower(text), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if own, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			return own.Unmap().WithZone("") == addr.Unmap().WithZone("")
		}
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Contains(addr.Unmap().WithZone(""))
	}
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return false
	}
	if name, below := strings.CutPrefix(text, "."); below {
		return host == name || strings.HasSuffix(host, text)
	}
	pattern := strings.NewReplacer("*", "[^.]*", "?", "[^.]", ".", `\.`).Replace(text)
	return regexp.MustCompile(`(?s)\A` + pattern + `\z`).MatchString(host)
}

// The index of hosts matches the same hosts as a comparison with each host, and an invalid host is not indexed.
func FuzzHosts(f *testing.F) {
	for _, seed := range [][2]string{
		{"www.example.org .example.com *.cdn-?.example.net", "a.example.com"},
		{".org example.org", "example.org"},
		{"192.0.2.0/24 [2001:db8::1] .2.1", "192.0.2.1"},
		{"*a*b*.x ?.*", "aab.x"},
		{"a..b . * .*.x [a]", "a..b"},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"192.0.2.1", "192.0.2.1%lo"},
		{"fe80::1%lo", "fe80::1"},
		{"a. b..", "a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, texts, host string) {
		if strings.Contains(host, "/") ||
			strings.ContainsFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) {
			return // no host in a URI has these characters (RFC 3986 section 3.2.2)
		}
		host = strings.ToLower(host)
		var hosts []string
		want := false
		for _, text := range strings.Fields(texts) {
			if _, err := policy.New(policy.ModeEnforce, []policy.Rule{{ID: "a", Hosts: []string{text}}}); err != nil {
				continue
			}
			hosts = append(hosts, text)
			want = want || isHost(text, host)
		}
		if len(hosts) == 0 {
			return
		}
		p := newPolicy(t, policy.ModeEnforce, policy.Rule{ID: "a", Deny: true, Hosts: hosts})
		r := policy.Request{Host: host}
		if got := p.Decide(r).Deny; got != want {
			t.Errorf("%q of %q: %t, want %t", host, hosts, got, want)
		}
		if got := len(p.Explain(r)) > 0; got != want {
			t.Errorf("%q of %q is explained: %t, want %t", host, hosts, got, want)
		}
	})
}

// A decision before the destination is known is the same for each destination, and Explain names the rule
// that decides.
func FuzzDecide(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, byte(1))
	f.Add([]byte{0b011, 0b101, 0b110}, byte(0))
	f.Fuzz(func(t *testing.T, shapes []byte, last byte) {
		var rules []policy.Rule
		for i, shape := range shapes[:min(len(shapes), 20)] {
			rule := policy.Rule{ID: "r" + string(rune('a'+i)), Deny: shape&1 != 0}
			if shape&2 != 0 {
				rule.Destinations = []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, shape}),
					24+int(shape>>3)%9)}
			}
			if shape&4 != 0 {
				rule.Hosts = []string{".example.com"}
			}
			rules = append(rules, rule)
		}
		p := newPolicy(t, policy.ModeEnforce, rules...)
		destination := netip.AddrFrom4([4]byte{10, 0, 0, last})
		before, after := p.Decide(request()), p.DecideFor(request(), destination)
		if !after.Final || before.Final && (before.Deny != after.Deny || before.Rule != after.Rule && !before.Deny) {
			t.Errorf("%v: %+v, then %+v", rules, before, after)
		}
		explained := policy.Decision{Final: true}
		for _, match := range p.Explain(request()) {
			if len(match.Destinations) == 0 || netip.MustParsePrefix(match.Destinations[0]).Contains(destination) {
				explained.Rule, explained.Deny = match.Rule, match.Deny
				break
			}
		}
		if explained != after {
			t.Errorf("%v: %+v, explained as %+v", rules, after, explained)
		}
	})
}
