package formats_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/urnd/urnd/proxy/answer"
)

// TestPAC checks that the PAC file is a program that browsers can run, and that it selects the right proxies.
func TestPAC(t *testing.T) {
	file := answer.PAC{
		Proxies: []string{"proxy.example:8141", "https://tls.example:8142", "[2001:db8::1]:8141"},
		Direct:  []string{"www.Direct.example.", ".below.example", "192.0.2.9", `a"b</script>`},
	}.Static().Reply(nil)
	const chain = "PROXY proxy.example:8141; HTTPS tls.example:8142; PROXY [2001:db8::1]:8141"
	find := findProxy(t, string(file.Body))
	for host, want := range map[string]string{
		"www.example": chain, "direct.example": chain, "www.direct.example": "DIRECT", "WWW.direct.EXAMPLE": "DIRECT",
		"www.direct.example.": "DIRECT", "a.below.example.": "DIRECT", "a.www.direct.example": chain,
		"below.example": "DIRECT", "a.b.below.example": "DIRECT", "notbelow.example": chain, "192.0.2.9": "DIRECT",
		"192.0.2.8": chain, "intranet": "DIRECT", "localhost": "DIRECT", "127.0.0.1": "DIRECT", "::1": "DIRECT",
		"2001:db8::2": chain,
	} {
		if got := find("http://"+host+"/", host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// TestPACRules checks that rules apply in order, by names, patterns and addresses, without looking up names.
func TestPACRules(t *testing.T) {
	file := answer.PAC{
		Proxies: []string{"proxy.example:8141"},
		Rules: []answer.PACRule{
			{Hosts: []string{"out.intranet.example"}},
			{
				Hosts:  []string{".intranet.example", "*.cdn-?.example", "10.0.0.0/8", "192.0.2.7", "fd00::/8"},
				Direct: true,
			},
			{},
			{Hosts: []string{".late.example"}, Direct: true},
		},
	}.Static().Reply(nil)
	const proxied, direct = "PROXY proxy.example:8141", "DIRECT"
	find := findProxy(t, string(file.Body))
	for host, want := range map[string]string{
		"www.example": proxied, "intranet.example": direct, "a.b.intranet.example": direct,
		"out.intranet.example": proxied, "a.cdn-1.example": direct, "a.b.cdn-1.example": proxied,
		"a.cdn-12.example": proxied, "axcdn-1.example": proxied, "10.1.2.3": direct, "10.example": proxied,
		"11.1.2.3": proxied, "192.0.2.7": direct, "fd00::1": direct, "2001:db8::1": proxied, "a.late.example": proxied,
	} {
		if got := find("http://"+host+"/", host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// findProxy returns the function of a PAC file, with the functions provided by browsers.
func findProxy(t *testing.T, program string) func(url, host string) string {
	t.Helper()
	vm := goja.New()
	for name, f := range map[string]any{
		"isPlainHostName": func(host string) bool { return !strings.ContainsAny(host, ".:") },
		"dnsDomainIs":     strings.HasSuffix,
		"isInNet": func(host, network, mask string) bool {
			addr, bits := net.ParseIP(host).To4(), net.IPMask(net.ParseIP(mask).To4())
			return addr != nil && addr.Mask(bits).Equal(net.ParseIP(network))
		},
		"isInNetEx": func(host, prefix string) bool {
			addr, err := netip.ParseAddr(host)
			return err == nil && netip.MustParsePrefix(prefix).Contains(addr)
		},
	} {
		if err := vm.Set(name, f); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := vm.RunString(program); err != nil {
		t.Fatalf("%v in %s", err, program)
	}
	var find func(url, host string) string
	if err := vm.ExportTo(vm.Get("FindProxyForURL"), &find); err != nil {
		t.Fatal(err)
	}
	return find
}
