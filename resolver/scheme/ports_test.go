package scheme_test

import (
	"errors"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
)

// TestPorts: a URL must not name the port of another protocol (RFC 1738 section 6).
func TestPorts(t *testing.T) {
	ports := scheme.Ports{
		Allow: func(port uint16) bool { return port == 990 || port == 6667 },
		Deny:  func(port uint16) bool { return port == 6667 || port == 6379 },
	}
	for text, allowed := range map[string]bool{
		"gopher://a/": true, "gopher://a:/": true, "gopher://a:70/": true, "gopher://a:070/": true, "ftp://a:21/": true,
		"news:a.b":       true,
		"gopher://a:25/": false, "gopher://a:21/": false, "ftp://a:70/": false, "ftp://a:0/": false,
		"ftp://a:1023/": false,
		"ftp://a:990/":  true, "ftp://a:1024/": true, "gopher://a:6667/": true, "gopher://a:6379/": false,
		"gopher://a:65535/": true,
		"unknown://a/":      true, "unknown://a:80/": false,
	} {
		if err := ports.Check(parse(t, text)); (err == nil) != allowed ||
			err != nil && !errors.Is(err, scheme.ErrPort) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (scheme.Ports{}).Check(parse(t, "gopher://a:6379/")); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}
