//go:build e2e

package dialogs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// sorted sorts dialogs that were generated from a map.
func sorted(all []dialog) {
	slices.SortFunc(all, func(a, b dialog) int { return strings.Compare(a.name, b.name) })
}

// mainTargets contains a target of each kind.
var mainTargets = []string{
	"/urn:plain:main", "/urn:nbn:fi:book", "/urn:nbn:fi:none", "/urn:nbn:fi:gone", "urn:plain:main",
	"/uri-res/N2L?urn:plain:main", "/uri-res/N2Ls?urn:nbn:fi:two", "/uri-res/N2C?urn:nbn:fi:book",
	"/uri-res/N2R?urn:nbn:fi:retrieved", "/api/v1/resolve?uri=urn:plain:main", "/http://a.example/b", "/",
	"/robots.txt", "/none", "/urn:a", "http://origin.example:8000/short/main",
	"http://origin.example:8000/echo/main", "/fetch?uri=http://origin.example:8000/short/fetch",
	"http://urnd.example/urn:plain:main", "*",
}

// methods are all methods for each kind of target.
func methods() []dialog {
	var all []dialog
	for _, target := range mainTargets {
		for _, method := range strings.Fields("GET HEAD POST PUT DELETE OPTIONS PATCH TRACE PURGE QUERY PROPFIND " +
			"SEARCH LINK get Get X GETS A-Z_0!") {
			host := "Host: urnd.example"
			if strings.HasPrefix(target, "http://origin") {
				host = "Host: origin.example:8000"
			}
			name := method + " " + target
			all = append(all, once(name, request(name+" HTTP/1.1", host)))
			switch method {
			case "POST", "PUT", "PATCH", "QUERY", "DELETE", "GET", "OPTIONS":
				all = append(all, once(name+" with a body",
					request(name+" HTTP/1.1", host, "Content-Type: text/plain", "Content-Length: 11")+"urn:plain:a"))
				all = append(all, once(name+" with an empty body",
					request(name+" HTTP/1.1", host, "Content-Length: 0")))
			}
		}
	}
	return all
}

// versions are HTTP/1 versions and values of Connection, for each kind of target, uncached and cached.
func versions() []dialog {
	var all []dialog
	for i, target := range mainTargets {
		if i%2 == 1 && i < 12 { // one of each kind is sufficient
			continue
		}
		host := "Host: urnd.example"
		if strings.HasPrefix(target, "http://origin") {
			host = "Host: origin.example:8000"
		}
		for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
			for _, connection := range []string{
				"", "close", "keep-alive", "Keep-Alive", "close, keep-alive",
				"keep-alive, close", "CLOSE", "x", "close, x", "upgrade", "TE", "Host", ",", " ",
			} {
				fields := []string{host}
				if connection != "" {
					fields = append(fields, "Connection: "+connection)
				}
				all = append(all, twice(fmt.Sprintf("%s %s Connection: %q", version, target, connection),
					request("GET "+target+" "+version, fields...)))
			}
			all = append(all, once(version+" "+target+" two Connection",
				request("GET "+target+" "+version, host, "Connection: x", "Connection: close")))
			all = append(all, once(version+" HEAD "+target, request("HEAD "+target+" "+version, host)))
			all = append(all, once(version+" "+target+" Proxy-Connection: keep-alive",
				request("GET "+target+" "+version, host, "Proxy-Connection: keep-alive")))
			all = append(all, once(version+" "+target+" Keep-Alive",
				request("GET "+target+" "+version, host, "Keep-Alive: timeout=5", "Connection: keep-alive")))
		}
		all = append(all, once("HTTP/1.0 without Host "+target, request("GET "+target+" HTTP/1.0")),
			once("HTTP/1.1 without Host "+target, request("GET "+target+" HTTP/1.1")))
	}
	for _, version := range []string{
		"HTTP/0.9", "HTTP/1.2", "HTTP/1.9", "HTTP/2", "HTTP/2.0", "HTTP/3.0", "HTTP/1",
		"HTTP/1.", "HTTP/1.10", "HTTP/11.1", "http/1.1", "HTTP /1.1", "HTTPS/1.1", "HTTP/1.1x", "HTTP/-1.1", "HTP/1.1",
		"", "ICY/1.0", "HTTP/\xb9.1",
	} {
		all = append(all, once("version "+version, request("GET /urn:plain:main "+version, "Host: urnd.example")))
	}
	all = append(all, once("no version", "GET /urn:plain:main\r\n\r\n"), once("HTTP/0.9", "GET /\r\n"),
		once("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
		once("HTTP/2 by Upgrade",
			get("/urn:plain:main", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
				"HTTP2-Settings: AAMAAABkAAQAAP__")),
		once("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"+strings.Repeat("\x00", 600)+"\r\n\r\n"),
		once("the PROXY protocol of others", "PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\n"+get("/urn:plain:main")))
	return all
}

// malformed are heads that violate RFC 9112, or nearly do.
func malformed() []dialog {
	var all []dialog
	one := get("/urn:plain:main")
	page := request("GET http://origin.example:8000/short/malformed HTTP/1.1", "Host: origin.example:8000")
	all = append(all, twice("the name", one), twice("the page", page))
	for _, text := range []string{
		"\r\n" + one, "\n" + one, "\r\n\r\n" + one, "\r\n\r\n\r\n" + one, " " + one, "\r" + one, "\x00" + one,
		"\t" + one, "\xef\xbb\xbf" + one, "x\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "\r\n \r\n\r\n",
		strings.ReplaceAll(one, "\r\n", "\n"), strings.ReplaceAll(page, "\r\n", "\n"),
		"GET /urn:plain:main HTTP/1.1\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:main HTTP/1.1\r\nHost: urnd.example\n\r\n",
		"GET /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\n",
		"GET /urn:plain:main HTTP/1.1\r\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\r\n\r\n",
		"GET /urn:plain:main HTTP/1.1 \r\nHost: urnd.example\r\n\r\n",
		"GET  /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:main  HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET\t/urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:main\tHTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:main\x0bHTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:a b HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"G@T /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"G\x00T /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"G\xe4T /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		" /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"(GET) /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		strings.Repeat("M", 300) + " /urn:plain:main HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:\x00 HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:\x7f HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:\x01 HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET /urn:plain:\r HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET urnd.example HTTP/1.1\r\nHost: urnd.example\r\n\r\n", "GET ?x HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET # HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET urnd.example:80 HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
		"GET //urnd.example/x HTTP/1.1\r\nHost: urnd.example\r\n\r\n",
	} {
		all = append(all, once(fmt.Sprintf("head %.70q", text), text))
	}
	for _, field := range []string{
		"X : y", "X: y", "X:y", "X:", "X", ":", ": y", " X: y", "\tX: y", "X\t: y", "X\x00: y", "X: \x00", "X: a\x00b",
		"X: \x01", "X: \x7f", "X: \x1b[0m", "X: \xe4", "X: ä", "Ä: y", "\xe4: y", "X: y\r z", "X: a\rb", "X(y): z",
		"X/y: z", "X@y: z", "X\"y: z", "X_y: z", "X.y: z", "!#$%&'*+-.^_`|~: z", "X: y\r\n z", "X: y\r\n\tz",
		"X: y\r\n \r\n z", "X: y\r\n", "X: y\n z", "X: y\nZ: z", "Host: other.example", "Host : urnd.example", "Host",
		"host: urnd.example", "Content-Length : 0", "Content-Length\t: 0", "Transfer-Encoding : chunked",
		"X: " + strings.Repeat("y", 4000), "X: " + strings.Repeat("y", 60_000), "X: " + strings.Repeat("y", 70_000),
		"X: " + strings.Repeat("y", 200_000), strings.Repeat("X", 300) + ": y", strings.Repeat("X", 70_000) + ": y",
		strings.TrimSuffix(strings.Repeat("X: y\r\n", 99), "\r\n"),
		strings.TrimSuffix(strings.Repeat("X: y\r\n", 1000), "\r\n"),
		strings.TrimSuffix(strings.Repeat("X: y\r\n", 20_000), "\r\n"), strings.Repeat(" ", 100) + "X: y",
		"X: " + strings.Repeat(" ", 1000) + "y" + strings.Repeat(" ", 1000), "Cookie: a=b\r\nCookie: c=d", "Trailer: X",
		"TE: trailers", "TE: gzip", "Upgrade: websocket", "Expect: x", "Expect: 100-continue", "Expect: 100-CONTINUE",
	} {
		all = append(all, once(fmt.Sprintf("field %.60q of %d bytes", field, len(field)),
			get("/urn:plain:main", field)))
		if len(field) < 1000 {
			all = append(all, once(fmt.Sprintf("field first %.60q", field),
				"GET /urn:plain:main HTTP/1.1\r\n"+field+"\r\nHost: urnd.example\r\n\r\n"))
			all = append(all, once(fmt.Sprintf("field to the page %.60q", field),
				request("GET http://origin.example:8000/short/malformed HTTP/1.1", "Host: origin.example:8000", field)))
		}
	}
	for _, size := range []int{1000, 4000, 8000, 8100, 8191, 8192, 8193, 8300, 9000, 20_000, 66_000, 100_000, 300_000} {
		for _, form := range []string{
			"/urn:plain:%s", "/?uri=urn:plain:%s", "/none%s",
			"http://origin.example:8000/short/%s", "urn:plain:%s",
		} {
			target := fmt.Sprintf(form, strings.Repeat("a", size-len(form)+2))
			all = append(all, once(fmt.Sprintf("%d bytes of %s", size, form), get(target)))
		}
		all = append(all, pipelined(fmt.Sprintf("%d bytes behind a hit", size), one,
			get("/urn:plain:"+strings.Repeat("a", size-11))))
		all = append(all, once(fmt.Sprintf("a cookie of %d bytes", size),
			get("/urn:plain:main", "Cookie: "+strings.Repeat("x", size))))
	}
	return all
}

// framing are request bodies and their framing fields.
func framing() []dialog {
	var all []dialog
	targets := []string{"/urn:plain:main", "/api/v1/resolve", "http://origin.example:8000/echo/framing", "/none"}
	for _, target := range targets {
		for _, method := range []string{"GET", "POST"} {
			add := func(name, fields, body string) {
				name = method + " " + target + ": " + name
				all = append(all,
					once(name, method+" "+target+" HTTP/1.1\r\nHost: urnd.example\r\nContent-Type: text/plain\r\n"+
						fields+"\r\n"+body))
			}
			chunked := "Transfer-Encoding: chunked\r\n"
			add("a length", "Content-Length: 11\r\n", "urn:plain:a")
			add("no length", "", "")
			for _, length := range []string{
				"0", "-1", "+11", "x", "", " 11 ", "11, 11", "11, 12", "0x0b", "1e1", "011",
				"00", "11;", "99999999999999999999", "\xb9\xb9", "1 1",
			} {
				add("Content-Length "+length, "Content-Length: "+length+"\r\n",
					map[bool]string{true: "urn:plain:a"}[strings.Contains(length, "11")])
			}
			add("two equal lengths", "Content-Length: 11\r\nContent-Length: 11\r\n", "urn:plain:a")
			add("two lengths", "Content-Length: 11\r\nContent-Length: 12\r\n", "urn:plain:a")
			add("two lengths with zero", "Content-Length: 0\r\nContent-Length: 11\r\n", "urn:plain:a")
			add("a length and chunked", "Content-Length: 11\r\n"+chunked, "b\r\nurn:plain:a\r\n0\r\n\r\n")
			add("chunked and a length", chunked+"Content-Length: 11\r\n", "b\r\nurn:plain:a\r\n0\r\n\r\n")
			for _, coding := range []string{
				"Chunked", "CHUNKED", "chunked ", "\tchunked", "identity", "gzip",
				"gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked,", ",chunked", "xchunked", "\"chunked\"",
				"chunked;q=1", "", "x",
			} {
				add("Transfer-Encoding "+coding, "Transfer-Encoding: "+coding+"\r\n",
					map[bool]string{true: "b\r\nurn:plain:a\r\n0\r\n\r\n"}[strings.Contains(strings.ToLower(coding),
						"chunked")])
			}
			add("two Transfer-Encoding", chunked+chunked, "b\r\nurn:plain:a\r\n0\r\n\r\n")
			add("gzip and chunked, two fields", "Transfer-Encoding: gzip\r\n"+chunked, "b\r\nurn:plain:a\r\n0\r\n\r\n")
			for _, body := range []string{
				"b\r\nurn:plain:a\r\n0\r\n\r\n", "B\r\nurn:plain:a\r\n0\r\n\r\n", "0\r\n\r\n",
				"000b\r\nurn:plain:a\r\n000\r\n\r\n", "b;a=b\r\nurn:plain:a\r\n0;c\r\n\r\n",
				"b ; a = \"b;c\"\r\nurn:plain:a\r\n0\r\n\r\n", "b \r\nurn:plain:a\r\n0\r\n\r\n",
				"b\nurn:plain:a\n0\n\n", "b\r\nurn:plain:a\r\n0\r\nX: y\r\n\r\n",
				"b\r\nurn:plain:a\r\n0\r\nContent-Length: 5\r\nHost: x\r\n\r\n",
				"b\r\nurn:plain:a\r\n0\r\nX : y\r\n\r\n",
				"b\r\nurn:plain:a\r\n0\r\nX: " + strings.Repeat("y", 5000) + "\r\n\r\n",
				"4\r\nurn:\r\n7\r\nplain:a\r\n0\r\n\r\n", "x\r\n\r\n", "-1\r\n\r\n", "\r\n\r\n",
				"0xb\r\nurn:plain:a\r\n0\r\n\r\n", "fffffffffffffffff\r\n",
				"b;" + strings.Repeat("x", 5000) + "\r\nurn:plain:a\r\n0\r\n\r\n", "b\r\nurn:plain:abc\r\n0\r\n\r\n",
				"bx\r\nurn:plain:a\r\n0\r\n\r\n", " b\r\nurn:plain:a\r\n0\r\n\r\n",
			} {
				add(fmt.Sprintf("chunks %.50q", body), chunked, body)
			}
			add("Expect and a body at once", "Expect: 100-continue\r\nContent-Length: 11\r\n", "urn:plain:a")
			add("Expect without a body", "Expect: 100-continue\r\n", "")
			add("Expect with length 0", "Expect: 100-continue\r\nContent-Length: 0\r\n", "")
			add("Expect of something else", "Expect: x\r\nContent-Length: 11\r\n", "urn:plain:a")
			head := method + " " + target + " HTTP/1.1\r\nHost: urnd.example\r\nContent-Type: text/plain\r\n"
			waiting := func(name string, steps ...step) {
				for i := range steps {
					steps[i].methods = []string{method}
				}
				all = append(all, dialog{name: method + " " + target + ": " + name, steps: steps})
			}
			waiting("a body behind 100",
				step{send: head + "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n", interim: true},
				step{send: "urn:plain:a"})
			waiting("chunks behind 100",
				step{send: head + "Expect: 100-continue\r\n" + chunked + "\r\n", interim: true},
				step{send: "b\r\nurn:plain:a\r\n0\r\n\r\n"})
			waiting("HTTP/1.0 with Expect",
				step{send: strings.Replace(head, "1.1", "1.0", 1) +
					"Expect: 100-continue\r\nContent-Length: 11\r\n\r\nurn:plain:a"})
			waiting("chunks by HTTP/1.0",
				step{send: strings.Replace(head, "1.1", "1.0", 1) + chunked + "\r\nb\r\nurn:plain:a\r\n0\r\n\r\n"})
			if method == "POST" {
				waiting("a body in two parts",
					step{send: head + "Content-Length: 11\r\n\r\nurn:", waits: true, consumed: true},
					step{send: "plain:a"})
				waiting("a body that is cut off", step{send: head + "Content-Length: 11\r\n\r\nurn:", fin: true})
				waiting("chunks that are cut off", step{send: head + chunked + "\r\nb\r\nurn:", fin: true})
				waiting("chunks without their end", step{send: head + chunked + "\r\nb\r\nurn:plain:a\r\n", fin: true})
				waiting("a large body",
					step{send: head + "Content-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000)})
				waiting("large chunks",
					step{send: head + chunked + "\r\n" +
						strings.Repeat("1000\r\n"+strings.Repeat("x", 4096)+"\r\n", 64) + "0\r\n\r\n"})
			}
			waiting("a request behind a body",
				step{send: head + "Content-Length: 11\r\n\r\nurn:plain:a" + get("/urn:plain:behind")}, step{send: ""})
		}
	}
	return all
}

// hosts are values of Host.
func hosts() []dialog {
	var all []dialog
	for _, host := range []string{
		"urnd.example", "URND.Example", "urnd.example.", "urnd.example:80", "urnd.example:8141", "urnd.example:",
		"urnd.example:99999", "urnd.example:x", "urnd.example:0", "www.urnd.example", "other.example", "localhost",
		"localhost:8141", "127.0.0.1", "127.0.0.1:8141", "127.1", "0x7f.1", "[::1]", "[::1]:80", "[::1", "::1",
		"[fe80::1%25lo]", "[v1.x]", "a b", "a/b", "a,b", "a@b", "user@urnd.example", "a?b", "a#b", "a%41", "%00",
		"a\x00", "a\x7f", "\xe4", "ä.example", "xn--4ca.example", "a\tb", " urnd.example ", "a;b", "a'b", "a\"b",
		"a<b>", "a{b}", "a|b", "a\\b", "a^b", "a`b", "-", "_", ".", "..", "*", "a:80:80", ":80", ":", "a_b.example",
		"site.example", "SITE.example.", "site.example:8141", "site.example:80", "purl.example", "purl.example.",
		"id.example", strings.Repeat("a", 300),
		"",
	} {
		for _, target := range []string{"/urn:plain:main", "/net/report", "http://urnd.example/urn:plain:main"} {
			all = append(all, once(fmt.Sprintf("%.40q for %s", host, target),
				request("GET "+target+" HTTP/1.1", "Host: "+host)))
		}
		all = append(all, once(fmt.Sprintf("%.40q by HTTP/1.0", host),
			request("GET /urn:plain:main HTTP/1.0", "Host: "+host)))
		if !strings.ContainsAny(host, " \x00\x7f\t/?#") {
			all = append(all, once(fmt.Sprintf("%.40q in the target", host),
				request("GET http://"+host+"/urn:plain:main HTTP/1.1", "Host: urnd.example")))
		}
	}
	for _, target := range []string{
		"/urn:plain:main", "http://urnd.example/urn:plain:main",
		"http://origin.example:8000/short/hosts",
	} {
		for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
			line := "GET " + target + " " + version
			all = append(all, once(line+" no Host", request(line)),
				once(line+" two Host", request(line, "Host: urnd.example", "Host: urnd.example")),
				once(line+" two different Host", request(line, "Host: urnd.example", "Host: other.example")),
				once(line+" Host folded", request(line, "Host:\r\n urnd.example")),
				once(line+" two in one", request(line, "Host: urnd.example, other.example")))
		}
	}
	return all
}
