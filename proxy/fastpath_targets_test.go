package proxy_test

import (
	"fmt"
	"strings"
)

// targets are the targets of requests, by HTTP/1.1 and without a body.
func targets() []string {
	var all []string
	names, pages := stored()
	for _, name := range append(names, "once", "noneonce", "fails", "slow", "other") {
		for _, form := range []string{
			"/urn:example:%s", "urn:example:%s", "/uri-res/N2L?urn:example:%s", "/?uri=urn:example:%s",
			"/uri-res/N2Ls?urn:example:%s", "/api/v1/resolve?uri=urn:example:%s",
		} {
			all = append(all, fmt.Sprintf(form, name))
		}
	}
	for _, page := range append(pages, "private", "fails", "slow", "echo") {
		for _, site := range []string{"http://a.example/", "http://www.example/", "https://www.example/", "http://denied.example/", "/"} {
			all = append(all, site+page)
		}
	}
	for _, suffix := range []string{
		"?", "#", "?#", "?=q", "?=q=1&r", "?+r", "?+r?=q", "?=q?+r", "?x", "#f", "?=q#f", "?c=x", "/", "//", "/..", "/../x", "%", "%2", "%2f", "%2F", "%zz",
		"%00", "%41", "%7e", "%c3%a4", "&", "'", "\"", "<", ">", "\\", "^", "`", "{", "|", "}", "[", "]", "@", ":", ";", ",", "!", "*", "(", ")", "~", "$",
		"+", "=", "\x7f", "\x80", "\xc3\xa4", "\x01", "\t", " x", "\x00",
		strings.Repeat("a", maxTarget-len("/urn:example:one")-1), strings.Repeat("a", maxTarget-len("/urn:example:one")), strings.Repeat("a",
			maxTarget-len("/urn:example:one")+1), strings.Repeat("a", 4*maxTarget),
	} {
		all = append(all, "/urn:example:one"+suffix, "urn:example:one"+suffix, "/uri-res/N2L?urn:example:one"+suffix, "/?uri=urn:example:one"+suffix,
			"http://a.example/page"+suffix)
	}
	return append(all,
		"/URN:EXAMPLE:one", "/Urn:Example:one", "/urn:EXAMPLE:one", "/urn:example:ONE", "/urn:example:%6Fne", "/urn:example:%6fne",
		"/urn:isbn:9780395363416", "/urn:isbn:978-0-395-36341-6", "/urn:ISBN:978-0395363416", "/urn:isbn:0395363411", "/isbn:9780395363416",
		"/9780395363416", "/urn:ietf:rfc:2648", "/urn:ietf:RFC:2648",
		"/urn%3Aexample%3Aone", "/urn%3aexample:one", "//urn:example:one", "/./urn:example:one", "/ urn:example:one", "/urn:", "/urn", "/urn:example",
		"/urn:example:", "/urn::one", "/urn:ex_ample:one", "/urn:example:one/", "urn:", "urn:example:", "/urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"/uri-res/N2L?", "/uri-res/N2L", "/uri-res/N2L?URN:example:one", "/uri-res/n2l?urn:example:one", "/uri-res/I2L?urn:example:one",
		"/uri-res/i2l?urn:example:one", "/URI-RES/N2L?urn:example:one", "/uri-res/N2R?urn:example:one", "/uri-res/N2C?urn:example:one",
		"/uri-res/N2X?urn:example:one", "/uri-res/L2L?http://a.example/page", "/uri-res/N2L?http://a.example/page", "/uri-res//N2L?urn:example:one",
		"/uri-res/N2L?urn%3Aexample%3Aone", "/uri-res/N2L?urn:example:one&x",
		"/?uri=urn%3Aexample%3Aone", "/?uri=urn:example:one&uri=urn:example:two", "/?uri=urn:example:one&service=I2Ls", "/?service=I2L&uri=urn:example:one",
		"/?x=y&uri=urn:example:one", "/?uri=", "/?uri", "/?URI=urn:example:one", "/?uri=urn:example:one;x", "/?uri=http://a.example/page",
		"/?uri=urn:example:a+b", "/?q=urn:example:one",
		"*", "/", "", "?", "#", "http:", "http:/", "http://", "http:///", "http:///urn:example:one", "http://a", "http://a/", "http://a/urn:example:one",
		"http://a:80/urn:example:one", "http://a:81/urn:example:one", "http://A/urn:example:one", "HTTP://a/urn:example:one",
		"http://127.0.0.1/urn:example:one", "http://127.0.0.1:80/urn:example:one", "http://localhost/urn:example:one",
		"http://localhost:80/urn:example:one", "http://user@a/urn:example:one", "http://a/?uri=urn:example:one", "http://a?uri=urn:example:one",
		"http://a/uri-res/N2L?urn:example:one", "http://a#urn:example:one", "http://a//urn:example:one", "https://a/urn:example:one",
		"http://a.example", "http://a.example/", "http://a.example/query", "http://a.example/query?a=b", "http://a.example/query?a=c",
		"HTTP://A.EXAMPLE/page", "http://a.example:80/page", "http://a.example:/page", "http://a.example./page", "http://a.example:81/page",
		"http://a.example:99999/page", "http://u:p@a.example/page", "http://@a.example/page", "http://a.example//page", "http://a.example/./page",
		"http://a.example/x/../page", "http://a.example/%70age", "http://a.example/page/", "http://[::1]/page", "http://[::1/page", "http://a b/page",
		"http://%61.example/page", "http://a_.example/page", "http://xn--a/page", "https://a.example/page", "ftp://a.example/page",
		"gopher://a.example/page", "ws://a.example/page", "mailto:a@a.example", "data:,x", "javascript:alert(1)", "file:///etc/passwd", "about:blank",
		"/http://a.example/page", "/http:/a.example/page", "/mailto:a@a.example", "/javascript:alert(1)", "/fetch/http://a.example/page",
		"/fetch/urn:example:one", "/api/v1/resolve", "/api/v1/resolve?uri=urn:example:one&service=I2C", "/robots.txt", "/favicon.ico", "/openapi.json",
		"/.well-known/security.txt", "/proxy.pac", "/wpad.dat", "/index.html", "/urnd", "/10.1000/182", "/doi:10.1000/182",
		"/timegate/urn:example:one", "/timegate/", "/timemap/urn:example:one", "/memento/20310501120000/urn:example:one", "/memento/1/urn:example:one",
		"/.well-known/api-catalog",
	)
}

// fieldLines are field lines of a request that the caches could answer.
func fieldLines() []string {
	all := []string{
		"", "X: y", "Accept: */*", "Accept: text/html", "Accept: application/pdf", "Accept: text/html;q=0, */*", "Accept: application/json", "Accept: application/ld+json, */*;q=0.1", "Accept: Application/Linkset+JSON",
		"Accept: text/uri-list", "Accept:", "Accept: \xe4", "Accept: text/html\r\nAccept: application/pdf", "accept: text/plain", "ACCEPT: text/html",
		"Accept-Language: de", "Accept-Language: en;q=0.5, de", "Accept-Language: *", "Accept-Encoding: gzip", "Accept-Encoding: gzip, identity;q=0",
		"Accept-Charset: utf-8",
		"User-Agent: x", "User-Agent: a \"quoted\" \\ one", "User-Agent:\tx\t", "User-Agent: " + strings.Repeat("x", 3000),
		"Referer: http://u:p@a.example/?token=x", "User-Agent: x\r\nReferer: http://b.example/", "Cookie: a=b", "Cookie: a=b\r\nCookie: c=d",
		"Origin: https://page.example", "Origin: null", "Origin: https://page.example\r\nOrigin: x", "Dnt: 1", "DNT: 1", "Sec-GPC: 1",
		"Sec-Fetch-Mode: navigate", "Sec-CH-UA: \"x\"", "Upgrade-Insecure-Requests: 1", "Priority: u=1", "Save-Data: on", "X-Requested-With: x",
		"Connection: keep-alive", "Connection: Keep-Alive", "Connection: close", "Connection: Close", "Connection: upgrade",
		"Connection: keep-alive, close", "Connection: x", "Connection: accept", "Connection:", "Connection: keep-alive\r\nConnection: close",
		"Proxy-Connection: keep-alive", "Proxy-Connection: close", "Keep-Alive: 300",
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13",
		"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA", "TE: trailers", "Trailer: x",
		"Content-Length: 0", "Content-Length: 5", "Content-Length: x", "Content-Length: -1", "Content-Length: 0\r\nContent-Length: 0", "Content-Length:",
		"Content-Length: +0", "Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked",
		"Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Type: text/plain", "Expect: 100-continue", "Expect: x",
		"If-None-Match: \"v1\"", "If-None-Match: W/\"v1\"", "If-None-Match: \"x\", \"v1\"", "If-None-Match: *", "If-None-Match: v1", "If-None-Match:",
		"If-None-Match: \"v1\"\r\nIf-None-Match: \"x\"", "If-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT",
		"If-Modified-Since: Fri, 31 Dec 1998 00:00:00 GMT", "If-Modified-Since: Saturday, 01-Jan-00 00:00:00 GMT", "If-Modified-Since: x",
		"If-None-Match: \"x\"\r\nIf-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT", "If-Match: \"v1\"", "If-Match: \"x\"",
		"If-Unmodified-Since: Fri, 31 Dec 1998 00:00:00 GMT", "If-Range: \"v1\"\r\nRange: bytes=0-1", "Range: bytes=0-1", "Range: x",
		"Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0", "Cache-Control: only-if-cached", "Cache-Control: max-stale",
		"Cache-Control:", "Pragma: no-cache", "Authorization: Basic dTpw", "Authorization: x", "Proxy-Authorization: Basic dTpw",
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: x", "Forwarded: for=192.0.2.1", "Forwarded: for=127.0.0.1;host=b",
		"X-Real-IP: 192.0.2.1", "Via: 1.1 urnd", "Via: 1.1 x", "X-Request-Id: mine", "X-Request-Id: not mine!",
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Urnd-Hops: 1", "Urnd-Hops: 9", "Urnd-Hops: x", "Max-Forwards: 0",
		"Accept-Datetime: Fri, 31 Dec 1999 00:00:00 GMT", "Prefer: x", "Date: x", "From: a@a.example", "X-HTTP-Method-Override: DELETE",
		"Host: a", "host: b", "Host: b", "X", "X:", ": x", " : x", "X : y", "X y: z", "X\x00: y", "X: \x00", "X: a\rb", "X: \x7f", "X: \x80", "X\xe4: y",
		"X: y\r\n z", "Accept: text/html\r\n folded", "Accept: text/html\r\n\tfolded", "Accept : text/html", "Accept\t: text/html", "(: x",
		"User-Agent: \x01", "User-Agent: \xff", "User-Agent: a\tb", "User-Agent: \r\nAccept: x", "_: x", "X_Y: z",
	}
	for _, n := range []int{22, 23, 24, 25, 26, 40} {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf("X-%d: y", i)
		}
		all = append(all, strings.Join(lines, "\r\n"))
	}
	return all
}
