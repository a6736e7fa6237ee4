package netguard_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

// TestCheckBehind checks the destinations allowed for upstream proxies: RFC 6890, RFC 6761 section 6.3, and the
// spellings of inet_aton.
func TestCheckBehind(t *testing.T) {
	var own netguard.OwnAddrs
	own.Set([]net.Addr{&net.TCPAddr{IP: net.IPv4(192, 168, 1, 1), Port: 8141}})
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("::/0"),
		netip.MustParsePrefix("192.168.0.0/16")).WithoutOwn(&own)
	for address, allowed := range map[string]bool{
		"a.example:80": true, "a.example.:443": true, "intranet:80": true, "93.184.215.14:80": true,
		"93.184.215.14:25": true, "[2606:2800:21f::1]:443": true, "192.168.1.2:80": true,
		"[::ffff:192.168.1.2]:80": true, "192.168.1.1:80": true, "192.168.1.1:8141": false, "10.0.0.1:80": false,
		"172.16.0.1:80": false, "100.64.0.1:80": false, "168.63.129.16:80": false, "[::ffff:10.0.0.1]:80": false,
		"127.0.0.1:80": false, "127.9.9.9:80": false, "0.0.0.0:80": false, "0.1.2.3:80": false, "[::1]:80": false,
		"[::]:80": false, "[::ffff:127.0.0.1]:80": false, "[0:0:0:0:0:ffff:7f00:1]:80": false,
		"169.254.169.254:80": false, "[::ffff:169.254.169.254]:80": false, "[::ffff:a9fe:a9fe]:80": false,
		"[fe80::1]:80": false, "[fe80::1%25eth0]:80": false, "[fe80::1%eth0]:80": false, "[ff02::1]:80": false,
		"224.0.0.1:80": false, "localhost:80": false, "LOCALHOST.:80": false, "a.localhost:80": false,
		"notlocalhost:80": true, "127.1:80": false, "0177.0.0.1:80": false, "0x7f.0.0.1:80": false,
		"0x7F000001:80": false, "2130706433:80": false, "017700000001:80": false,
		"127.0.0.01:80": false,
		"127.0.0.1.:80": false, "127.0.0x1:80": false, "1.2.3.4.5:80": false, "a.1:80": false, "0x.0x:80": false,
		"127.0.0.%31:80": false, "a.0xg:80": true, "a.1a:80": true, "1.example:80": true,
		"a.example": false, "": false, ":80": false, ".:80": false, "127.0.0.1..:80": false, "localhost..:80": false,
		"a..example:80": false, ".a.example:80": false, "①②⑦.0.0.1:80": false, "127。0。0。1:80": false,
		"ｌocalhost:80": false, "a\x00:80": false, "a b:80": false, "\xff:80": false, "a_b.example:80": true,
		"xn--bcher-kva.example:80": true,
		"[64:ff9b::7f00:1]:80":     false, "[64:ff9b:1::a9fe:a9fe]:80": false, "[::127.0.0.1]:80": false,
		"[::ffff:0:127.0.0.1]:80": false, "[2002:7f00:1::]:80": false, "[2002:a9fe:a9fe::1]:80": false,
		"[64:ff9b::5db8:d70e]:80": true, "[2002:5db8:d70e::1]:80": true,
	} {
		if err := guard.CheckViaProxy(address); (err == nil) != allowed ||
			err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
	closed := netguard.New(time.Second)
	for _, address := range []string{
		"192.168.1.2:80", "[fd00:ec2::254]:80", "[64:ff9b::7f00:1]:80",
		"[2002:7f00:1::]:80", "[::127.0.0.1]:80",
	} {
		if err := closed.CheckViaProxy(address); !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// FuzzCheckBehind checks that every address that is rejected for direct connections is rejected for upstream
// proxies, except for its port.
func FuzzCheckBehind(f *testing.F) {
	for _, host := range []string{
		"127.0.0.1", "::1", "10.0.0.1", "0x7f.1", "a.example", "169.254.169.254",
		"fe80::1%eth0", "localhost", "2130706433",
	} {
		f.Add(host)
	}
	guard := netguard.New(time.Second, netip.MustParsePrefix("10.0.0.0/8"))
	f.Fuzz(func(t *testing.T, host string) {
		err := guard.CheckViaProxy(net.JoinHostPort(host, "443"))
		if err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%q: %v", host, err)
		}
		if addr, notAddress := netip.ParseAddr(host); notAddress == nil && err == nil &&
			guard.Check(netip.AddrPortFrom(addr, 443)) != nil {
			t.Errorf("%q is allowed", host)
		}
	})
}
