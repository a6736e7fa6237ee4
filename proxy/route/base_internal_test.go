package route

import "testing"

// The Host of a request is used in links only if it is a valid host.
func TestIsHostText(t *testing.T) {
	for text, want := range map[string]bool{
		"a.example": true, "A.example:8141": true, "192.0.2.1": true, "[2001:db8::1]": true, "[2001:db8::1]:80": true,
		"a_b": true, "": false, "a:": false, "a:80:80": false, "a:b": false, "[::1": false, "[]": false,
		"[::1]80": false, "a b": false, `a">`: false, "a,b": false, "a;b": false, "a/b": false, "a@b": false,
		"a%0d": false, ":80": false,
		"ä": false,
	} {
		if got := isHostText(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// The base URL is the configured one, or else made of the Host and the scheme of the request, also as a proxy
// in front reports it.
func TestBase(t *testing.T) {
	p := Endpoint{Server: &Server{}}
	if got := p.Base("a.example"); got != "http://a.example" {
		t.Error(got)
	}
	if got := p.Base("b.example:8141"); got != "http://b.example:8141" {
		t.Error(got)
	}
	p.BehindProxy, p.Scheme = true, "https"
	if got := p.Base("b.example:8141"); got != "https://b.example:8141" {
		t.Error(got)
	}
	if got := p.Base(`b.example">`); got != "" {
		t.Error(got)
	}
	p.PublicURL = "https://urn.example.org/resolver"
	if got := p.Base("b.example"); got != p.PublicURL {
		t.Error(got)
	}
}
