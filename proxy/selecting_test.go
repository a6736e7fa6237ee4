package proxy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
)

// A response is selected by the fields that the origin received, not by those that the client sent to the
// proxy (RFC 9111 section 4.1).
func TestSelectedBySentFields(t *testing.T) {
	o := answering(t, func(request string) string {
		message := "en"
		if got := field(request, "Accept-Language"); len(got) > 0 {
			message = got[0]
		}
		if got := field(request, "X-Forwarded-For"); len(got) > 0 {
			message += "," + strings.ReplaceAll(strings.Join(got, ","), " ", "")
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: Accept-Language, "+
			"X-Forwarded-For\r\nContent-Length: %d\r\n\r\n%s", len(message), message)
	})
	s := start(t, func(c *proxy.Config) { withCache(t, c) })
	target := "http://" + o.addr + "/"
	s.bytes(t,
		"GET "+target+" HTTP/1.1\r\nHost: a\r\nAccept-Language: de\r\nConnection: close, Accept-Language\r\n\r\n")
	if got := text(t, s.get(t, target, "Accept-Language: de")); got != "de" {
		t.Errorf("others get what a field of the connection has selected: %q", got)
	}
	s = start(t, func(c *proxy.Config) {
		withCache(t, c)
		c.Forward.Forwarded = forward.ForwardedFor
		c.Access.Trusted, c.Access.Proxy = c.Access.Proxy, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	for _, client := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		if got := text(t, s.get(t, target, "Forwarded: for="+client)); got != "en,"+client {
			t.Errorf("%s gets %q", client, got)
		}
	}
}
