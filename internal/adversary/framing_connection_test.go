package adversary

import "fmt"

// connectionOptions are hop-by-hop fields and methods, and fields that a client must not make a proxy forward
// or remove (RFC 9110 sections 7.6 and 9.3).
func connectionOptions() []request {
	var all []request
	add := func(name, section, line, lines string, want outcome) {
		all = append(all, request{name, section, line + " HTTP/1.1\r\nHost: {o}\r\n" + lines + "\r\n", want})
	}
	for _, option := range []string{
		"close, host", "host", "content-length", "transfer-encoding", "via", "x-forwarded-for", "date", "cookie",
		"keep-alive, , ,", "close close", "\"close\"", ",",
	} {
		add(fmt.Sprintf("Connection: %s", option), "RFC 9110 section 7.6.1", "GET http://{o}/p/{id}",
			"Connection: "+option+"\r\n", either)
	}
	add("Connection takes the length away", "RFC 9110 section 7.6.1", "POST http://{o}/p/{id}",
		"Connection: content-length\r\nContent-Length: 0\r\n", answered)
	for _, value := range []string{"100-continue, 200-ok", "200-ok", "x", "100-continue;q=1"} {
		add("Expect: "+value, "RFC 9110 section 10.1.1", "GET /urn:ietf:rfc:2648", "Expect: "+value+"\r\n", either)
	}
	add("Upgrade to h2c", "RFC 9113 section 3.1", "GET /urn:ietf:rfc:2648",
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n", either)
	add("Upgrade to h2c, forwarded", "RFC 9113 section 3.1", "GET http://{o}/p/{id}",
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n", either)
	add("Upgrade to a name with CR", "RFC 9110 section 7.8", "GET http://{o}/p/{id}",
		"Connection: Upgrade\r\nUpgrade: a\rb\r\n", refused)
	add("Upgrade that the origin ignores", "RFC 9110 section 7.8", "GET http://{o}/p/{id}",
		"Connection: Upgrade\r\nUpgrade: websocket\r\n", either)
	for _, target := range []string{
		"{o}", "a.example:25", "[::1]:22", "{o}/a", "http://{o}/", "/", ":443",
		"a.example:99999", "*",
	} {
		add("CONNECT "+target, "RFC 9110 section 9.3.6", "CONNECT "+target, "", declined)
	}
	for _, method := range []string{"TRACE", "OPTIONS"} {
		for _, hops := range []string{"-1", "x", "99999999999999999999", "1.5"} {
			add(method+" with Max-Forwards "+hops, "RFC 9110 section 7.6.2", method+" http://{o}/p/{id}",
				"Max-Forwards: "+hops+"\r\n", either)
		}
	}
	add("TRACE of a name", "RFC 9110 section 9.3.8", "TRACE /urn:ietf:rfc:2648", "", declined)
	add("OPTIONS of everything", "RFC 9110 section 9.3.7", "OPTIONS *", "", either)
	add("POST of a name", "RFC 9110 section 15.5.6", "POST /urn:ietf:rfc:2648", "Content-Length: 0\r\n", declined)
	add("PUT of a name", "RFC 9110 section 15.5.6", "PUT /urn:ietf:rfc:2648", "Content-Length: 0\r\n", declined)
	for _, value := range []string{
		"bytes=0-", "bytes=-1", "bytes=9-1", "bytes=0-0,1-1,2-2,3-3",
		"bytes=" + fmt.Sprint(1<<62) + "-", "x=1",
	} {
		add("Range: "+value, "RFC 9110 section 14.2", "GET /", "Range: "+value+"\r\n", either)
	}
	return all
}
