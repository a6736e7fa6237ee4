package adversary

import "fmt"

// transferCodings are values of Transfer-Encoding that recipients interpret differently (RFC 9112 sections 6.1
// and 6.3). Recipients that parse the chunks find another end of the request than those that count bytes.
func transferCodings() []request {
	var all []request
	starts := map[string]string{"": "POST /api/v1/resolve", ", forwarded": "POST http://{o}/p/{id}"}
	const body = "\r\n\r\n7\r\n[\"a:b\"]\r\n0\r\n\r\n"
	add := func(name, section, lines string, want outcome) {
		for form, start := range starts {
			all = append(all, request{name + form, section, start + " HTTP/1.1\r\nHost: {o}\r\n" + lines + body, want})
		}
	}
	add("chunked", "RFC 9112 section 6.1", "Transfer-Encoding: chunked", answered)
	add("chunked by case", "RFC 9112 section 7", "Transfer-Encoding: CHUNKED", either)
	for _, value := range []string{
		"identity", "gzip", "gzip, chunked", "chunked, identity", "chunked, gzip", "identity, chunked",
		"chunked, chunked", "chunked,chunked", "xchunked", "chunkedx", "x-chunked",
		"chunked;q=1", "chunked; a=b", "\"chunked\"", "'chunked'", "chun ked", "chunked\x00", "\x0bchunked",
		"chunked\x0b", "\x0cchunked", "\xa0chunked", "chunked\xa0", "", "cow", "c\u0068unKed\u200b", "chunked\x7f",
		"[chunked]",
	} {
		add(fmt.Sprintf("Transfer-Encoding: %q", value), "RFC 9112 section 6.1", "Transfer-Encoding: "+value, refused)
	}
	for _, value := range []string{
		" chunked", "\tchunked", "chunked ", "chunked\t", ", chunked", "chunked,",
		"chunked, ",
	} {
		add(fmt.Sprintf("Transfer-Encoding:%q", value), "RFC 9110 section 5.6.1", "Transfer-Encoding:"+value, either)
	}
	add("space before the colon", "RFC 9112 section 5.1", "Transfer-Encoding : chunked", refused)
	add("a folded coding", "RFC 9112 section 5.2", "Transfer-Encoding:\r\n chunked", either)
	add("two codings in lines", "RFC 9112 section 6.1",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", refused)
	add("two different codings in lines", "RFC 9112 section 6.1",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", refused)
	add("an unknown coding in the first line", "RFC 9112 section 6.1",
		"Transfer-Encoding: cow\r\nTransfer-Encoding: chunked", refused)
	add("a line that begins with a space", "RFC 9112 section 5.2",
		"X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 17", either)
	// With both, a server may reject it: section 6.1.
	for _, lines := range []string{
		"Transfer-Encoding: chunked\r\nContent-Length: 17", "Content-Length: 17\r\nTransfer-Encoding: chunked",
		"Content-Length: 3\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nTransfer-Encoding: chunked",
	} {
		for form, start := range starts {
			all = append(all,
				request{
					"both lengths" + form, "RFC 9112 section 6.1",
					start + " HTTP/1.1\r\nHost: {o}\r\n" + lines + body, refused,
				},
				request{
					"both lengths, a request as what follows" + form, "RFC 9112 section 11.2",
					start + " HTTP/1.1\r\nHost: {o}\r\n" + lines + "\r\n\r\n0\r\n\r\n{smuggled}", refused,
				})
		}
	}
	// HTTP/1.0 has no transfer codings, so the framing is invalid: section 6.1.
	for form, start := range starts {
		all = append(all,
			request{
				"a coding of HTTP/1.0" + form, "RFC 9112 section 6.1",
				start + " HTTP/1.0\r\nHost: {o}\r\nTransfer-Encoding: chunked" + body, refused,
			},
			request{
				"a coding of HTTP/1.0 that stays open" + form, "RFC 9112 section 6.1",
				start + " HTTP/1.0\r\nHost: {o}\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked" + body,
				refused,
			},
			request{
				"a coding of HTTP/1.0 and a length" + form, "RFC 9112 section 6.1",
				start + " HTTP/1.0\r\nHost: {o}\r\nContent-Length: 17\r\nTransfer-Encoding: chunked" + body, refused,
			})
	}
	for _, start := range []string{"GET /urn:ietf:rfc:2648", "GET http://{o}/p/{id}", "HEAD /urn:ietf:rfc:2648"} {
		all = append(all, request{
			"chunks of " + start, "RFC 9112 section 6.1",
			start + " HTTP/1.1\r\nHost: {o}\r\nTransfer-Encoding: chunked" + body, either,
		})
	}
	return all
}
