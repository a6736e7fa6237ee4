package adversary

import (
	"fmt"
	"strings"
)

// fieldLines are field lines that violate the grammar of RFC 9112 section 5. urnd itself responds to the first
// request of each, and an origin to the second.
func fieldLines() []request {
	var all []request
	add := func(name, section, lines string, want outcome) {
		all = append(all,
			request{name, section, "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: {o}\r\n" + lines + "\r\n\r\n", want},
			request{
				name + ", forwarded", section,
				"GET http://{o}/p/{id} HTTP/1.1\r\nHost: {o}\r\n" + lines + "\r\n\r\n", want,
			})
	}
	// RFC 9110 section 5.1: a name is a token.
	for _, c := range "(),/;<=>?@[\\]{}\" \t\x00\x0b\x0c\x7f\x80\xff" {
		add(fmt.Sprintf("name with %q", c), "RFC 9110 section 5.1", "X"+string(c)+"Y: z", refused)
	}
	add("space before the colon", "RFC 9112 section 5.1", "X-A : b", refused)
	add("tab before the colon", "RFC 9112 section 5.1", "X-A\t: b", refused)
	add("no name", "RFC 9110 section 5.1", ": b", refused)
	add("no colon", "RFC 9112 section 5", "X-A", refused)
	add("a request line as a field", "RFC 9112 section 5", "GET /smuggled/{id} HTTP/1.1", refused)
	// RFC 9112 section 5.2: obsolete line folding is rejected or replaced by spaces.
	add("folded line", "RFC 9112 section 5.2", "X-A: b\r\n c", either)
	add("folded by a tab", "RFC 9112 section 5.2", "X-A: b\r\n\tc", either)
	add("folded into a field", "RFC 9112 section 5.2", "X-A: b\r\n Content-Length: 5", either)
	// RFC 9110 section 5.5: these are dangerous in a value.
	for _, c := range []string{"\x00", "\r", "\x0b", "\x01", "\x1b", "\x7f"} {
		add(fmt.Sprintf("value with %q", c), "RFC 9110 section 5.5", "X-A: b"+c+"c", refused)
	}
	add("CR before a field", "RFC 9112 section 2.2", "X-A: b\rContent-Length: 44", refused)
	add("a bare CR as the end", "RFC 9112 section 2.2", "X-A: b\r\rGET /smuggled/{id} HTTP/1.1", refused)
	add("bytes above 127", "RFC 9110 section 5.5", "X-A: \x80\xff", either)
	add("an empty value", "RFC 9110 section 5.5", "X-A:", answered)
	add("64 KiB of one value", "RFC 6585 section 5", "X-A: "+strings.Repeat("a", 80<<10), refused)
	add("3000 fields", "RFC 6585 section 5",
		strings.TrimSuffix(strings.Repeat("X-Abcdefghijklmnopqrs: b\r\n", 3000), "\r\n"), refused)
	// RFC 9112 section 2.2: whitespace between the start line and the first field.
	for _, c := range []string{" ", "\t"} {
		all = append(all, request{
			fmt.Sprintf("%q before the first field", c), "RFC 9112 section 2.2",
			"GET http://{o}/p/{id} HTTP/1.1\r\n" + c + "X-A: b\r\nHost: {o}\r\n\r\n", refused,
		})
	}
	return all
}
