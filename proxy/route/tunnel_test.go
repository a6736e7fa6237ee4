package route_test

import (
	"testing"

	"github.com/urnd/urnd/proxy/route"
)

// The target of CONNECT: RFC 9110 section 9.3.6.
func TestParseAuthority(t *testing.T) {
	for _, tt := range []struct {
		target, host string
		port         uint16 // 0: the target is invalid
	}{
		{"WWW.Example.org.:443", "www.example.org", 443},
		{"www.example.org:80", "www.example.org", 80},
		{"[2001:DB8::1]:8443", "2001:db8::1", 8443},
		{"192.0.2.1:443", "192.0.2.1", 443},
		{"www.example.org", "", 0},
		{"www.example.org:", "", 0},
		{"www.example.org:65536", "", 0},
		{"https://www.example.org", "", 0},
		{"www.example.org:443/", "", 0},
		{"www.example.org:443?a", "", 0},
		{"user@www.example.org:443", "", 0},
		{"", "", 0},
		{":443", "", 0},
		{"www.example.org:0", "", 0},
		{"010.0.0.1:443", "", 0},
		{"a b:443", "", 0},
	} {
		got, err := route.ParseAuthority(tt.target)
		if tt.port == 0 {
			if err == nil {
				t.Errorf("%q: %+v", tt.target, got)
			}
			continue
		}
		if want := (route.Authority{Host: tt.host, Port: tt.port}); err != nil || got != want {
			t.Errorf("%q: %+v, %v", tt.target, got, err)
		}
	}
}
