package adversary

import (
	"fmt"
	"strings"
)

// chunks are bodies that violate the grammar of the chunked coding (RFC 9112 section 7.1). A missing end also
// ends the connection.
func chunks() []request {
	var all []request
	add := func(name, section, body string, want outcome) {
		for form, start := range map[string]string{
			"":            "POST /api/v1/resolve",
			", forwarded": "POST http://{o}/p/{id}",
		} {
			all = append(all, request{
				name + form, section,
				start + " HTTP/1.1\r\nHost: {o}\r\nTransfer-Encoding: chunked\r\n\r\n" + body, want,
			})
		}
	}
	const last = "0\r\n\r\n"
	for _, size := range []string{
		"-7", "+7", "0x7", "7h", "g", "", " ", "7 7", "\x00", "7\x00", "7.0", "ffffffffffffffff7", "10000000000000007",
		"8000000000000007", "fffffffffffffffe", "_7", "7_", "\"7\"", "\xff", "7,", "%37", "０",
	} {
		add(fmt.Sprintf("size %q", size), "RFC 9112 section 7.1", size+"\r\n[\"a:b\"]\r\n"+last, refused)
	}
	for _, size := range []string{" 7", "7 ", "7\t", "0000000007", "7;", "7;a", "7;a=b", "7;a=\"b\"", "7 ; a = b"} {
		add(fmt.Sprintf("size %q", size), "RFC 9112 section 7.1.1", size+"\r\n[\"a:b\"]\r\n"+last, either)
	}
	add("data longer than its size", "RFC 9112 section 7.1", "7\r\n[\"a:b\"]xx\r\n"+last, refused)
	add("data shorter than its size", "RFC 9112 section 7.1", "8\r\n[\"a:b\"]\r\n"+last, refused)
	add("no CRLF behind data", "RFC 9112 section 7.1", "7\r\n[\"a:b\"]"+last, refused)
	add("LF alone behind data", "RFC 9112 section 7.1", "7\r\n[\"a:b\"]\n"+last, either)
	add("LF alone behind the size", "RFC 9112 section 7.1", "7\n[\"a:b\"]\r\n"+last, either)
	add("LF alone in an extension", "RFC 9112 section 7.1.1", "7;\n[\"a:b\"]\r\n"+last, either)
	add("CR alone behind the size", "RFC 9112 section 7.1", "7\r[\"a:b\"]\r\n"+last, refused)
	add("CR alone in an extension", "RFC 9112 section 7.1.1", "7;a\rb\r\n[\"a:b\"]\r\n"+last, refused)
	add("two CRs", "RFC 9112 section 7.1", "7\r\r\n[\"a:b\"]\r\n"+last, refused)
	add("other bytes behind data", "RFC 9112 section 7.1", "7\r\n[\"a:b\"]XX"+last, refused)
	add("a long extension", "RFC 9112 section 7.1.1",
		"7;"+strings.Repeat("a", 20_000)+"\r\n[\"a:b\"]\r\n"+last, refused)
	add("many extensions", "RFC 9112 section 7.1.1",
		strings.Repeat("1;"+strings.Repeat("a", 100)+"\r\n \r\n", 2000)+last, either)
	add("one byte a chunk", "RFC 9112 section 7.1", strings.Repeat("1\r\n \r\n", 5000)+last, either)
	add("no last chunk", "RFC 9112 section 8", "7\r\n[\"a:b\"]\r\n", refused)
	add("half of a last chunk", "RFC 9112 section 8", "7\r\n[\"a:b\"]\r\n0\r\nX\r\nY", refused)
	add("a request in an extension", "RFC 9112 section 7.1.1", "7;a=\"\r\n{smuggled}\"\r\n[\"a:b\"]\r\n"+last, refused)
	for _, trailer := range []string{
		"X: y", "Content-Length: 99", "Transfer-Encoding: chunked", "Host: b.example", "Content-Length: 0\r\nX: y",
		"X : y",
		"GET http://{o}/smuggled/{id} HTTP/1.1",
	} {
		add(fmt.Sprintf("trailer %q", trailer), "RFC 9110 section 6.5.1",
			"7\r\n[\"a:b\"]\r\n0\r\n"+trailer+"\r\n\r\n", either)
	}
	for _, trailer := range []string{
		"X", ": y", "X: y\rZ: w", "X: \x00", " X: y",
		"X: " + strings.Repeat("y", 80<<10),
	} {
		add(fmt.Sprintf("trailer %.30q", trailer), "RFC 9112 section 7.1.2",
			"7\r\n[\"a:b\"]\r\n0\r\n"+trailer+"\r\n\r\n", refused)
	}
	return all
}
