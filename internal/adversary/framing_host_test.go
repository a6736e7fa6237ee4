package adversary

import "fmt"

// hosts are requests with an ambiguous host (RFC 9112 section 3.2).
func hosts() []request {
	var all []request
	add := func(name, section, target, lines string, want outcome) {
		all = append(all, request{name, section, "GET " + target + " HTTP/1.1\r\n" + lines + "\r\n", want})
	}
	for _, target := range []string{"/urn:ietf:rfc:2648", "http://{o}/p/{id}"} {
		add("no Host for "+target, "RFC 9112 section 3.2", target, "", refused)
		add("two Hosts for "+target, "RFC 9112 section 3.2", target, "Host: {o}\r\nHost: {o}\r\n", refused)
		add("two different Hosts for "+target, "RFC 9112 section 3.2", target, "Host: {o}\r\nHost: b\r\n", refused)
		add("Host twice by case for "+target, "RFC 9112 section 3.2", target, "Host: {o}\r\nhOST: b\r\n", refused)
		for _, value := range []string{
			"a b", "a/b", "a\\b", "a,b", "a\"b", "a<b>", "a\x00b", "a\x7f", "a#b", "a?b",
			"a@b{}", "\xff", "a\tb",
		} {
			want := refused
			// These are left by net/http to the handler.
			if value == "a#b" || value == "a?b" || value == "a,b" || value == "a/b" || value == "a\\b" ||
				value == "\xff" {
				want = either
			}
			add(fmt.Sprintf("Host %q for %s", value, target), "RFC 9110 section 7.2", target,
				"Host: "+value+"\r\n", want)
		}
		add("folded Host for "+target, "RFC 9112 section 5.2", target, "Host: {o}\r\n b\r\n", either)
		add("space before the colon of Host for "+target, "RFC 9112 section 5.1", target, "Host : {o}\r\n", refused)
	}
	add("an empty Host", "RFC 9110 section 7.2", "/urn:ietf:rfc:2648", "Host:\r\n", answered)
	// The authority of the target takes precedence over Host: RFC 9112 section 3.2.2.
	add("another Host than the target", "RFC 9112 section 3.2.2", "http://{o}/p/{id}", "Host: internal.example\r\n",
		answered)
	add("the user information of an authority", "RFC 9110 section 4.2.4", "http://a:b@{o}/p/{id}", "Host: {o}\r\n",
		either)
	return all
}
