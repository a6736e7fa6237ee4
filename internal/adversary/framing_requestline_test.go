package adversary

import (
	"fmt"
	"strings"
)

// requestLines are request lines that violate the grammar of RFC 9112 section 3: a method, a space, a target, a
// space, a version.
func requestLines() []request {
	const rest = "\r\nHost: {o}\r\n\r\n"
	var all []request
	add := func(name, section, line string, want outcome) {
		all = append(all, request{name, section, line + rest, want})
	}
	for _, c := range "()<>@,;:\\\"/[]?={}\t\x00\x7f\x80\xff" {
		add(fmt.Sprintf("method with %q", c), "RFC 9110 section 9.1",
			"GE"+string(c)+"T /urn:ietf:rfc:2648 HTTP/1.1", refused)
	}
	for _, method := range []string{"get", "GET1", "PROPFIND", "FOO", "M-SEARCH", "$", strings.Repeat("A", 300)} {
		add("method "+method[:min(len(method), 9)], "RFC 9110 section 9.1",
			method+" /urn:ietf:rfc:2648 HTTP/1.1", declined)
	}
	for _, version := range []string{
		"HTTP/1.10", "HTTP/1.", "HTTP/.1", "HTTP/1", "HTTP/11", "HTTP/1,1", "HTTP/ 1.1", "HTTP/1 .1", "HTTP/1.1x",
		"HTTP/+1.1", "HTTP/01.1", "HTTP/1.01", "http/1.1", "Http/1.1", "HTTPS/1.1", "HTTP 1.1", "HTTP/a.b",
		"HTTP/9999.9999", "ICY/1.1", "HTTP/1.1\x00", "HTTP/-1.1", "HTTP/2.0", "HTTP/3.0",
	} {
		add("version "+version, "RFC 9112 section 2.3", "GET /urn:ietf:rfc:2648 "+version, refused)
	}
	add("version HTTP/1.2 is of the same major version", "RFC 9110 section 2.5",
		"GET /urn:ietf:rfc:2648 HTTP/1.2", either)
	add("version HTTP/0.9", "RFC 9112 section 2.3", "GET /urn:ietf:rfc:2648 HTTP/0.9", refused)
	for _, line := range []string{
		"", " ", "GET", "GET ", "GET /urn:ietf:rfc:2648", "GET  HTTP/1.1", "/urn:ietf:rfc:2648 HTTP/1.1",
		" GET /urn:ietf:rfc:2648 HTTP/1.1",
		"\tGET /urn:ietf:rfc:2648 HTTP/1.1",
		"GET\t/urn:ietf:rfc:2648\tHTTP/1.1", "GET /urn:ietf:rfc:2648\tHTTP/1.1",
		"GET\x0b/urn:ietf:rfc:2648\x0bHTTP/1.1", "GET\x0c/urn:ietf:rfc:2648 HTTP/1.1",
		"GET /urn:ietf:rfc:2648 HTTP/1.1 HTTP/1.1", "GET /urn:ietf:rfc:2648 x HTTP/1.1",
		"GET /urn:ietf rfc:2648 HTTP/1.1",
		"GET /urn:ietf:rfc:2648 HTTP/1.1\rGET http://{o}/smuggled/{id} HTTP/1.1",
		"GET /urn:ietf:rfc:2648\rX: y HTTP/1.1", "GET /\x00urn:ietf:rfc:2648 HTTP/1.1",
		"GET /urn:ietf:rfc:2648\x00 HTTP/1.1", "GET /urn:ietf:rfc:2648\x7f HTTP/1.1",
		"\xef\xbb\xbfGET /urn:ietf:rfc:2648 HTTP/1.1",
		"\x00GET /urn:ietf:rfc:2648 HTTP/1.1",
	} {
		want := refused
		if line == "" { // one empty line before a request is ignored: section 2.2
			want = either
		}
		add(fmt.Sprintf("line %.30q", line), "RFC 9112 section 3", line, want)
	}
	for _, target := range []string{"/urn:ietf:\xc3\xa4", "/urn:ietf:\xff"} {
		add(fmt.Sprintf("target %q", target), "RFC 3986 section 2", "GET "+target+" HTTP/1.1", either)
	}
	for _, line := range []string{
		"GET  /urn:ietf:rfc:2648 HTTP/1.1", "GET /urn:ietf:rfc:2648  HTTP/1.1", "GET /urn:ietf:rfc:2648 HTTP/1.1 ",
		"GET /urn:ietf:rfc:2648 HTTP/1.1\t",
	} {
		add(fmt.Sprintf("white space %.40q", line), "RFC 9112 section 3", line, either)
	}
	for _, target := range []string{
		"*", "{o}", "urn", ":", "//", "http://", "http:///a", "http://{o}:x/", "http://{o}:99999/", "http://[::1/",
		"http://a b/", "http://{o}/%",
		"http://{o}/%zz", "http://{o}/\"", "http://{o}/<>", "http://{o}/\\",
		"http://%00/", "http://a%0d%0ab/", "http://-/", "http://..", "http://@/", "http://:80/", "ht tp://{o}/",
		"http//{o}/", "http:{o}", "?", "#",
		"http://{o}/{id}#fragment", "/" + strings.Repeat("a", 9000), "http://{o}/" + strings.Repeat("a", 9000),
	} {
		want := declined
		switch {
		case strings.Contains(target, " "):
			want = refused
		case strings.Contains(target, "{id}#"): // a client should not send one, and a proxy must not forward it
			want = either
		case strings.HasPrefix(target, "http://{o}/") && strings.ContainsAny(target, "%\"<\\"):
			// Characters that programs send raw: ADR 33.
			want = either
		}
		add(fmt.Sprintf("target %.40q", target), "RFC 9112 section 3.2", "GET "+target+" HTTP/1.1", want)
	}
	for name, before := range map[string]string{"an empty line": "\r\n", "an empty line without CR": "\n"} {
		all = append(all, request{
			name + " before the request", "RFC 9112 section 2.2",
			before + "GET /urn:ietf:rfc:2648 HTTP/1.1" + rest, either,
		})
	}
	all = append(all,
		request{
			"lines that end with LF alone", "RFC 9112 section 2.2",
			"GET /urn:ietf:rfc:2648 HTTP/1.1\nHost: {o}\n\n", either,
		},
		request{
			"lines that end with CR alone", "RFC 9112 section 2.2",
			"GET /urn:ietf:rfc:2648 HTTP/1.1\rHost: {o}\r\r", refused,
		},
		request{
			"TLS instead of HTTP", "RFC 9112 section 9.7",
			"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", refused,
		},
		request{"a SOCKS greeting", "RFC 1928 section 3", "\x05\x01\x00\r\n\r\n", refused},
		request{"SMTP", "RFC 5321 section 4.1", "EHLO a.example\r\nMAIL FROM:<a@a.example>\r\n\r\n", refused},
		request{"the preface of HTTP/2", "RFC 9113 section 3.4", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", refused},
	)
	return all
}
