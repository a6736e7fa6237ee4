package netguard

import "testing"

// The search list of a system is for names of one label (RFC 1535).
func TestAbsolute(t *testing.T) {
	for address, want := range map[string]string{
		"a.example:80": "a.example.:80", "a.example.:80": "a.example.:80", "intranet:80": "intranet:80",
		"192.0.2.1:80": "192.0.2.1:80", "[2001:db8::1]:80": "[2001:db8::1]:80", "[::ffff:192.0.2.1]:80": "[::ffff:192.0.2.1]:80", "nothing.like:it:80": "nothing.like:it:80",
	} {
		if got := absolute(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
