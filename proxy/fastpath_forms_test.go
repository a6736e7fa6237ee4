package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// forwardedLines are field lines by which proxies say from whom and how a request came.
func forwardedLines() []string {
	hops := func(n int) string { return strings.Repeat("127.0.0.2, ", n) }
	return []string{
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 192.0.2.2", "X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 127.0.0.1",
		"x-forwarded-for:192.0.2.1", "X-FORWARDED-FOR: 192.0.2.1 ", "X-Forwarded-For: 192.0.2.1:80", "X-Forwarded-For: ::ffff:192.0.2.1",
		"X-Forwarded-For: 2001:db8::1", "X-Forwarded-For: [2001:db8::1]:80", "X-Forwarded-For: [2001:db8::1]", "X-Forwarded-For: fe80::1%eth0",
		"X-Forwarded-For: 203.0.113.1, 192.0.2.1", "X-Forwarded-For: 192.0.2.1, 203.0.113.1", "X-Forwarded-For: 192.0.2.1, 127.0.0.1",
		"X-Forwarded-For: 127.0.0.3,127.0.0.2", "X-Forwarded-For: x, 192.0.2.1", "X-Forwarded-For: 192.0.2.1, x", "X-Forwarded-For: ", "X-Forwarded-For: ,",
		"X-Forwarded-For: 192.0.2.1,", "X-Forwarded-For: unknown", "X-Forwarded-For: " + hops(63) + "192.0.2.1",
		"X-Forwarded-For: 192.0.2.1, " + hops(62) + "127.0.0.2", "X-Forwarded-For: " + hops(64) + "192.0.2.1",
		"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 127.0.0.1",
		"Forwarded: for=192.0.2.1", "Forwarded: For=\"192.0.2.1:80\";proto=https", "Forwarded: for=\"[2001:db8::1]:80\"",
		"Forwarded: for=203.0.113.1, for=192.0.2.1", "Forwarded: for=192.0.2.1;host=\"a,b\"",
		"Forwarded: for=192.0.2.1;proto=https, for=127.0.0.1;proto=http", "Forwarded: proto=https", "Forwarded: for=_x", "Forwarded: for=unknown",
		"Forwarded: ", "Forwarded: x", "Forwarded: for=192.0.2.1;for=192.0.2.2",
		"X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.2",
		"X-Forwarded-For: 192.0.2.1\r\nForwarded: proto=https",
		"X-Forwarded-Proto: https", "X-Forwarded-Proto: HTTPS", "X-Forwarded-Proto: http", "X-Forwarded-Proto: https, http", "X-Forwarded-Proto: ws",
		"X-Forwarded-Proto: ", "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https", "X-Forwarded-Proto: http\r\nForwarded: for=192.0.2.1;proto=https",
		"X-Forwarded-Proto: " + strings.Repeat("http,", 64) + "\r\nForwarded: for=192.0.2.1;proto=https",
		"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: www.example\r\nX-Forwarded-Port: 443\r\nX-Forwarded-Server: x\r\nX-Real-IP: 192.0.2.1", "X-Forwarded-Host: denied.example", "X-Forwarded-Port: 81", "X-Forwarded-Ssl: on", "X-Real-IP: 192.0.2.1", "X-Real-IP: 203.0.113.1\r\nX-Forwarded-For: 192.0.2.1",
		"X-Forwarded-For: 192.0.2.1\r\nVia: 1.1 varnish", "X-Forwarded-For: 192.0.2.1\r\nVia: 1.1 urnd-x, 1.1 urnd-y, 1.1 urnd-z",
		"Via: 1.1 a\r\nVia: 1.1 b", "X-Forwarded-For: 192.0.2.1\r\nX-Request-Id: mine", "X-Forwarded-For: 192.0.2.1\r\nUrnd-Hops: 1",
		"X-Forwarded-For: 192.0.2.1\r\nAccept-Language: de", "X-Forwarded-For: 192.0.2.1\r\nIf-None-Match: \"v1\"",
		"X-Forwarded-For: 192.0.2.1\r\nRange: bytes=1-2", "X-Forwarded-For: 192.0.2.1\r\nConnection: x-forwarded-for",
		"X-Forwarded-For: 192.0.2.1\r\nConnection: close",
	}
}

// rangeLines are field lines of requests for a part of a page, with and without conditions.
func rangeLines() []string {
	lines := []string{
		"If-Range: \"v1\"", "If-None-Match: \"v1\"\r\nRange: bytes=0-1", "If-None-Match: \"x\"\r\nRange: bytes=0-1",
		"If-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT\r\nRange: bytes=0-1", "If-Match: \"v1\"\r\nRange: bytes=0-1",
		"Range: bytes=0-1\r\nRange: bytes=2-3", "Range: bytes=0-1\r\nCache-Control: no-cache", "Range: bytes=0-1\r\nConnection: close",
	}
	for _, set := range []string{
		"bytes=0-0", "bytes=0-1", "bytes=2-", "bytes=-1", "bytes=-5", "bytes=-0", "bytes=0-", "bytes=1-5", "bytes=1-6", "bytes=1-7", "bytes=5-99999",
		"bytes=6-", "bytes=7-", "bytes=7-9", "bytes=9-", "bytes=48000-", "bytes=40000-47999", "bytes=100-9000", "bytes=16384-16385", "bytes=-99999",
		"bytes=3-2", "bytes=0-1,3-4", "bytes=0-1,", ",bytes=0-1", "bytes=,0-1", "bytes=0-1,9-", "bytes=0 - 1", "bytes= 0-1", "bytes =0-1", "Bytes=0-1",
		"bytes=x", "bytes=", "bytes", "", "x=0-1", "bytes=--1", "bytes=+0-1", "bytes=0-99999999999999999999", "bytes=99999999999999999999-",
		"bytes=-99999999999999999999", "bytes=0-1;x",
	} {
		lines = append(lines, "Range: "+set)
	}
	for _, condition := range []string{
		`"v1"`, `W/"v1"`, `"x"`, `v1`, `""`, "", `W/"large"`, `"v1", "x"`, "Fri, 31 Dec 1999 00:00:00 GMT", "Fri, 31 Dec 1998 00:00:00 GMT",
		"Friday, 31-Dec-99 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", "x",
	} {
		lines = append(lines, "Range: bytes=1-3\r\nIf-Range: "+condition)
	}
	return lines
}

// conditionLines are field lines of requests with conditions.
func conditionLines() []string {
	var lines []string
	for _, tags := range []string{
		`"v1"`, `W/"v1"`, `"v1`, `v1"`, `"`, `W/`, `w/"v1"`, `"x"`, `"x","v1"`, `"x" , W/"v1"`, `,, "v1",,`, `"x\", "v1"`,
		`"a,b", "v1"`, `"a, "v1"`, `*`, `"*"`, `*, "x"`, `"x", *`, ``, `,`, `W/"large"`, `"large"`, strings.Repeat(`"x", `, 100) + `"v1"`,
	} {
		lines = append(lines, "If-None-Match: "+tags)
	}
	for _, date := range []string{
		"Fri, 31 Dec 1999 00:00:00 GMT", "Thu, 30 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 00:00:01 GMT", "Fri, 31 Dec 1999 00:00:00 gmt",
		"Fri, 31 Dec 1999 00:00:00 UTC", "Fri, 31 Dec 1999 00:00:00", "fri, 31 dec 1999 00:00:00 GMT", "Mon, 31 Dec 1999 00:00:00 GMT",
		"Fri, 31 Dec 99 00:00:00 GMT", "Fri, 31  Dec 1999 00:00:00 GMT", "Fri, 1 Jan 2100 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT",
		"Fri, 30 Feb 2100 00:00:00 GMT", "Friday, 31-Dec-99 00:00:00 GMT", "Fri Dec 31 00:00:00 1999", "Sat Jan  1 00:00:00 2000",
		"Fri, 31 Dec 1999 24:00:00 GMT", "Fri, 31 Dec 1999 23:59:60 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "0", "",
	} {
		lines = append(lines, "If-Modified-Since: "+date)
	}
	return append(lines, "If-None-Match: \"x\"\r\nIf-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT",
		"If-None-Match: \"v1\"\r\nIf-Modified-Since: Fri, 31 Dec 1998 00:00:00 GMT", "If-None-Match: \"v1\"\r\nIf-Match: \"v1\"",
		"If-Unmodified-Since: Fri, 31 Dec 1999 00:00:00 GMT\r\nIf-None-Match: \"v1\"")
}

// formTargets are targets of requests for names by a parameter, and with components.
func formTargets() []string {
	var all []string
	for _, name := range []string{
		"one", "two", "typed", "languages", "escaped", "record", "sandbox", "none", "withdrawn", "gone", "absent", "short",
		"once", "javascript", "ONE",
	} {
		for _, format := range []string{
			"/?uri=urn:example:%s", "/?uri=urn%%3Aexample%%3A%s", "/?uri=URN:EXAMPLE:%s", "/?uri=urn:example:%s&service=I2L",
			"/?uri=urn:example:%s?=q", "/urn:example:%s?=q", "/urn:example:%s?+r", "/urn:example:%s?+r?=q=1&s", "/uri-res/N2L?urn:example:%s?=q",
			"/urn:example:%s+", "/urn:example:%s?preview", "urn:example:%s?=q", "urn:example:%s?+r?=q", "/uri-res/N2Ls?urn:example:%s?=q",
		} {
			all = append(all, fmt.Sprintf(format, name))
		}
	}
	for _, parameter := range []string{
		"+urn:example:one", "urn:example:one+", "urn:example:o+ne", "urn%3Aexample%3Ao+ne", "%20urn:example:one", "urn:example:one%20",
		"urn:example:one%0a", "urn:exam%0aple:one", "<urn:example:one>", "%3Curn:example:one%3E", "url:urn:example:one", "URL:urn:example:one",
		"url:%20urn:example:one", "%ef%bb%bfurn:example:one", "urn:example:%c3%a4", "urn:example:%25c3%25a4", "urn:example:one%23f",
		"urn:example:one%3F%3Dq", "urn%3aexample%3aone", "urn%3Aexample%3aone%", "urn%3Aexample%zz", "%75rn:example:one", "urn:example:%6fne",
		"urn:example:%256fne", "urn:isbn:978-0-395-36341-6", "urn:isbn:0395363411", "978-0-395-36341-6", "isbn:9780395363416", "urn", "urn:",
		"urn:example:", "urn:example:one%26x", "urn:example:one;x", "urn:example:one/../x", "urn:example:one%00", "urn:example:one%7f",
		"urn:example:one%5c", "urn:example:one%22", "urn:example:one%5b%5d", "http://a.example/page", "mailto:a@a.example", strings.Repeat("urn:example:one", 20),
	} {
		all = append(all, "/?uri="+parameter, "/?x=y&uri="+parameter+"&z")
	}
	for _, components := range []string{
		"?=", "?+", "?=q?=r", "?=q?+r", "?+r?=", "?+?=q", "?+r?+s", "?=q/x?y", "?=%20", "?=%zz", "?=q%23f", "?=a'b(c);d,e", "?=\"", "?=<", "?+r&x", "?+R",
		"?s=I2L", "?s=I2Ls", "?c=x", "?c=x&s=I2L", "?=" + strings.Repeat("q", 300), "?+" + strings.Repeat("r", 300),
	} {
		all = append(all, "/urn:example:one"+components, "/urn:example:escaped"+components, "/?uri=urn:example:one"+components)
	}
	return append(all, "/?service=I2L&uri=urn:example:one", "/?uri=urn:example:one&service=I2Ls", "/?uri=urn:example:one&service=",
		"/?uri=urn:example:one&service=x", "/?uri=urn:example:one&service=I2C", "/?uri=urn:example:one&service=I=I", "/?uri=urn:example:one&uri=x",
		"/?uri=x&uri=urn:example:one", "/?uri=urn:example:one&sort=x", "/?", "/?uri", "/?uri=&uri=urn:example:one", "/?%75ri=urn:example:one",
		"//?uri=urn:example:one", "/?/?uri=urn:example:one")
}

// hostTargets are targets of requests for a web host whose paths are names.
func hostTargets() []string {
	var all []string
	for _, path := range hostPaths() {
		all = append(all, "/"+path, "/"+path+"?q=1", "/"+path+"?", "/"+path+"/", "/x/../"+path, "/"+path+"#f", "/"+path+"+", "/"+path+"?preview")
	}
	return append(all, "/%6Fne", "/%c3%a4", "/\xc3\xa4", "/o%zz", "/one|", "//one", "/ONE", "/robots.txt", "/favicon.ico", "/urn:example:one", "/URN:example:moved",
		"/uri-res/N2L?urn:example:moved", "/uri-res/N2L?https://purl.example/moved", "/api/v1/resolve?uri=https://purl.example/moved", "/?uri=urn:example:lasting",
		"/https://purl.example/moved", "/fetch?uri=http://a.example/page", "/"+strings.Repeat("x", 300), "/ark:/12345/x", "*", "")
}

// forms are requests of the forms that differ from the plain ones, each of a client of its own behind a proxy.
func forms() []dialog {
	var all []dialog
	one := asked(cachedName, "X-Forwarded-For: 192.0.2.1")
	add := func(request string) {
		all = append(all, dialog{packets: []packet{{one + request + one, time.Second}, {request + request, 0}}})
		all = append(all, dialog{packets: []packet{{strings.Replace(request, "GET", "HEAD", 1) + asked(cachedName), 0}}})
	}
	site := func(target string, lines ...string) string {
		return strings.Replace(asked(target, lines...), "Host: a\r\n", "Host: www.example\r\n", 1)
	}
	for _, lines := range forwardedLines() {
		lines := strings.Split(lines, "\r\n")
		add(asked("/urn:example:one", lines...))
		add(asked("/urn:example:none", lines...))
		add(asked(cachedPage, lines...))
		add(asked("http://a.example/client", lines...))
		add(site("/page", lines...))
		add(site("/client", lines...))
		add(site("/urn:example:one", lines...))
		add(strings.Replace(asked("/urn:example:one", lines...), "Host: a", "Host: elsewhere", 1))
	}
	for _, lines := range slices.Concat(conditionLines(), rangeLines()) {
		lines := strings.Split(lines, "\r\n")
		for _, target := range []string{
			cachedName, cachedPage, "http://a.example/modified", "http://a.example/large", "http://a.example/notfound",
			"http://a.example/reason",
		} {
			add(asked(target, lines...))
		}
		add(site("/page", lines...))
	}
	for _, page := range []string{"vary", "chunked", "nolength", "empty", "brief", "age", "cookie", "odd", "moved", "revalidated", "none", "partial"} {
		add(asked("http://a.example/"+page, "Range: bytes=1-2"))
		add(asked("http://a.example/"+page, "Range: bytes=100000-"))
	}
	for _, target := range hostTargets() {
		for _, lines := range []string{
			"Accept: text/html", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: purl.example", "Accept: application/json\r\nIf-None-Match: \"v1\"",
		} {
			for _, host := range []string{"purl.example", "PURL.example:80", "purl.example.", "www.example", "purl.example.evil"} {
				add(strings.Replace(asked(target, strings.Split(lines, "\r\n")...), "Host: a\r\n", "Host: "+host+"\r\n", 1))
			}
		}
		add(asked("http://purl.example" + target))
		add(strings.Replace(asked("https://purl.example:443"+target), "Host: a\r\n", "Host: purl.example:443\r\n", 1))
	}
	for _, target := range formTargets() {
		add(asked(target))
		add(asked(target, "Accept: application/json", "X-Forwarded-For: 192.0.2.1"))
	}
	return all
}

// The forms of requests that proxies in front and browsers make of plain ones are answered from the caches as they are without the fast
// path, also where those of several clients come by one connection.
func TestFastPathIsInvisibleToForms(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	t.Parallel()
	filled := newStores()
	all := forms()
	answered := 0
	for i, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			share := 32
			switch {
			case i == 0:
				share = 2
			case v.isProxied, v.name == "identifiers":
				share = 8
			}
			answered += compare(t, filled, v, every(share, i, all)...)
		})
	}
	const least = 5000
	if answered < least {
		t.Errorf("the fast path has answered %d requests", answered)
	}
}
