package accesslog_test

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

// clientOf makes an address of any octets: none, of IPv4, of IPv6, or with a zone.
func clientOf(octets []byte, zone string) netip.Addr {
	addr, ok := netip.AddrFromSlice(octets)
	if ok && addr.Is6() && !addr.Is4In6() {
		return addr.WithZone(zone)
	}
	return addr
}

// The lines are those that the standard library writes.
func FuzzFormats(f *testing.F) {
	v4, v6 := netip.MustParseAddr("192.0.2.1").AsSlice(), netip.MustParseAddr("2001:db8::1").AsSlice()
	f.Add(int64(0), int64(0), v4, "", "GET", "/urn:ietf:rfc:2648", uint16(302), int64(0), "hit", "https://a.example/", "curl/8")
	f.Add(int64(1795262400_005000000), int64(1500_000), v6, "eth0", "CONNECT", "u:p@a.example:443", uint16(407), int64(7), "miss", "", "")
	f.Add(int64(-1), int64(-1), []byte(nil), "\"<\u2028", "\x00\b\f\n\r\t\x1f\x7f", "<>&\"\\\u2028\u2029\ufffd\xff\xc3", uint16(5), int64(-1), "é",
		"%2540", "a\xe2\x80b")
	f.Add(int64(1e18), int64(1<<62), v4, "", "POST", "http://u:secret@h/é", uint16(200), int64(1<<62), "stale", "ftp:b:s@h", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, at, took int64, client []byte, user, method, target string, status uint16, size int64, cache, referer, agent string) {
		e := accesslog.Entry{
			Time: time.Unix(0, at), Took: time.Duration(took), Client: clientOf(client, user), User: user, Method: method, Target: target, Proto: "HTTP/1.1",
			Status: int(status), Bytes: size, Cache: cache, Rule: user, Form: "path", Service: "I2L", RequestID: cache, Forwarded: size%2 == 0,
			Refused: took%2 == 0, Denied: status%2 == 1, Referer: referer, UserAgent: agent, Type: agent,
		}
		if len(client) > 0 {
			e.Scheme, e.Host, e.Server = "https", agent, netip.AddrPortFrom(e.Client.WithZone(""), status)
		}
		for _, format := range []string{"json", "combined", "squid"} {
			var b bytes.Buffer
			write(t, &b, format, e)
			if got, want := b.String(), reference(format, e); got != want {
				t.Errorf("%s:\ngot  %q\nwant %q", format, got, want)
			}
		}
	})
}
