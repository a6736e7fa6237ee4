package policy_test

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/uri"
)

func TestNewRequest(t *testing.T) {
	client := netip.MustParseAddr("192.0.2.1")
	for _, tt := range []struct {
		target, scheme, host string
		port                 uint16
	}{
		{"HTTP://WWW.Example.ORG./a", "http", "www.example.org", 80},
		{"http://www.example.org:8080/", "http", "www.example.org", 8080},
		{"https://www.example.org", "https", "www.example.org", 443},
		{"https://www.example.org:/", "https", "www.example.org", 443},
		{"ftp://[2001:DB8:0::1]/", "ftp", "2001:db8::1", 21},
		{"http://%62.example/", "http", "b.example", 80},
		{"http://user@192.0.2.7:0/", "http", "192.0.2.7", 0},
		{"urn:example:a", "urn", "", 0},
		{"file:///etc/passwd", "file", "", 0},
	} {
		u, err := uri.Parse(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		want := policy.Request{
			Client: client, User: "ann", Method: "GET", Scheme: tt.scheme, Host: tt.host, Port: tt.port,
			Path: u.Normalize().Path(),
		}
		if got, err := policy.NewRequest(client, "ann", "GET", u.Normalize()); err != nil ||
			!reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", tt.target, got, err)
		}
	}
	if u, err := uri.Parse("x://a:65536/"); err != nil {
		t.Error(err)
	} else if _, err := policy.NewRequest(client, "", "GET", u); err == nil {
		t.Error("port 65536 is a port")
	}
}

// The word "connect" stands for requests without a scheme.
func TestRequestOfTunnel(t *testing.T) {
	connect := newPolicy(t, policy.ModeEnforce,
		policy.Rule{ID: "a", Deny: true, Schemes: []string{"https"}},
		policy.Rule{ID: "b", Deny: true, Schemes: []string{"Connect"}})
	if d := connect.Decide(policy.Request{Method: "CONNECT", Host: "a", Port: 443}); d.Rule != "b" {
		t.Errorf("%+v", d)
	}
}
