package adversary

import "fmt"

// contentLengths are values of Content-Length that are not one decimal number (RFC 9110 section 8.6, RFC 9112
// section 6.3), for urnd itself and for an origin. The body contains a request, for recipients that interpret
// the length differently.
func contentLengths() []request {
	var all []request
	add := func(name, section, lines string, want outcome) {
		for form, start := range map[string]string{
			"":            "POST /api/v1/resolve HTTP/1.1\r\nHost: {o}\r\n",
			", forwarded": "POST http://{o}/p/{id} HTTP/1.1\r\nHost: {o}\r\n",
		} {
			all = append(all, request{name + form, section, start + lines + "\r\n\r\n[\"a:b\"]", want})
		}
	}
	for _, value := range []string{
		"+7", "-7", "-1", "0x7", "7a", "a7", "7.0", "7e0", "7 7", "7;7", "\"7\"", "7\x00", "\x0b7", "0b111", "0o7",
		"7_0", "%37", "\xd9\xa7", "18446744073709551616", "18446744073709551623", "9223372036854775808",
		"99999999999999999999999999", "4294967303x", "NaN", "infinity", "7, 8", "7,", ",7",
	} {
		add(fmt.Sprintf("Content-Length: %q", value), "RFC 9110 section 8.6", "Content-Length: "+value, refused)
	}
	add("an empty Content-Length", "RFC 9110 section 8.6", "Content-Length:", refused)
	add("two lengths", "RFC 9112 section 6.3", "Content-Length: 7\r\nContent-Length: 8", refused)
	add("two lengths, the second less", "RFC 9112 section 6.3", "Content-Length: 7\r\nContent-Length: 0", refused)
	add("two lengths by case", "RFC 9112 section 6.3", "Content-Length: 7\r\ncontent-length: 0", refused)
	add("the same length twice", "RFC 9112 section 6.3", "Content-Length: 7\r\nContent-Length: 7", either)
	add("a list of one length", "RFC 9112 section 6.3", "Content-Length: 7, 7", either)
	add("leading zeros", "RFC 9110 section 8.6", "Content-Length: 0000000007", either)
	add("a folded length", "RFC 9112 section 5.2", "Content-Length:\r\n 7", either)
	add("space before the colon", "RFC 9112 section 5.1", "Content-Length : 7", refused)
	add("an underscore for the hyphen", "RFC 9110 section 5.1", "Content_Length: 7\r\nContent-Length: 7", either)
	add("tab around the number", "RFC 9110 section 5.5", "Content-Length: \t7\t", either)
	for form, start := range map[string]string{
		"GET": "GET /urn:ietf:rfc:2648", "HEAD": "HEAD /urn:ietf:rfc:2648",
		"GET, forwarded": "GET http://{o}/p/{id}", "DELETE, forwarded": "DELETE http://{o}/p/{id}",
	} {
		all = append(all, request{
			"a body of " + form, "RFC 9110 section 9.3.1",
			start + " HTTP/1.1\r\nHost: {o}\r\nContent-Length: 7\r\n\r\n[\"a:b\"]", either,
		})
	}
	return all
}
