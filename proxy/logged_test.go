package proxy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
)

// TestLoggedFields: what an event, of which the access log is made, has of the fields of a request is what the table says.
func TestLoggedFields(t *testing.T) {
	w := startObserved(t, func(c *proxy.Config) { c.Identify, c.Access.Trusted = true, []netip.Prefix{loopback} })
	for _, f := range httpmessage.RequestFields() {
		const value = "to-be-found"
		name := strings.Replace(f.Name, "*", "Other", 1)
		fields := "Host: a\r\n" + name + ": " + value
		switch {
		case name == "Host":
			fields = "Host: " + value
		case f.Use&httpmessage.Framing != 0: // some are refused with such a value
			continue
		}
		_ = text(t, w.ask(t, "GET /urn:a1:b HTTP/1.1\r\n"+fields+"\r\n\r\n")[0])
		e := w.event(t)
		e.Err = nil // it may cite what is malformed
		event := fmt.Sprintf("%+v", e)
		if got := strings.Contains(event, value); got != (f.Use&httpmessage.Logged != 0) {
			t.Errorf("%s: %t; %s", name, got, event)
		}
	}
}
