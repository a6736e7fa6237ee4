package proxy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
)

// TestLoggedFields: an event, which is written to the access log, has the values of exactly the fields that
// the table marks as logged.
func TestLoggedFields(t *testing.T) {
	w := startObserved(t, func(c *proxy.Config) { c.SendRequestID, c.Access.Trusted = true, []netip.Prefix{loopback} })
	for _, f := range httpmessage.RequestFields() {
		const value = "to-be-found"
		name := strings.Replace(f.Name, "*", "Other", 1)
		fields := "Host: a\r\n" + name + ": " + value
		switch {
		case name == "Host":
			fields = "Host: " + value
		case f.Use&httpmessage.Framing != 0: // some are rejected with such a value
			continue
		}
		_ = text(t, w.ask(t, "GET /urn:a1:b HTTP/1.1\r\n"+fields+"\r\n\r\n")[0])
		e := w.event(t)
		e.Err = nil // it may quote the malformed value
		event := fmt.Sprintf("%+v", e)
		if got := strings.Contains(event, value); got != (f.Use&httpmessage.Logged != 0) {
			t.Errorf("%s: %t; %s", name, got, event)
		}
	}
}
