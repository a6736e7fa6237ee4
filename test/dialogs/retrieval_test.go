//go:build e2e

package dialogs

import (
	"fmt"
	"slices"
	"strings"
)

// Scripts of the origin: those of replyOf, of bytesOf and of respond.
var (
	replyScripts = strings.Fields("static short weak bare heuristic nocache nostore private public stale must swr " +
		"vary varyall large larger cookie aged expired expires0 html svg typeless gzip hop spelled via cors auth " +
		"ntlm moved found loop multiple " +
		"missing forbidden gone error unavailable odd phrase long ranges echo created none")
	byteScripts = strings.Fields("chunked trailer early processing unasked untilclose http10 http10length cut " +
		"cutchunk cuthead badchunk empty garbage twolengths samelengths badlength both teother fold nul badname " +
		"barelf extra http2 status99 status1000 none204 length204 reset205 unasked304 unasked206 " +
		"unasked101 manyfields reset")
)

// originOf returns the host and port of the origin for a script. Scripts that close their connections have
// separate hosts, so that no other request uses a connection that is about to close.
func originOf(script string) string {
	if slices.Contains(byteScripts, script) || script == "hop" {
		return script + ".origin.example:8000"
	}
	return "origin.example:8000"
}

// proxied composes a request of a client of the forward proxy.
func proxied(method, script, unique string, fields ...string) string {
	host := originOf(script)
	if method == "POST" { // not retried if the connection is closed
		host = "post-" + host
	}
	return request(method+" http://"+host+"/"+script+"/"+unique+" HTTP/1.1",
		append([]string{"Host: " + host}, fields...)...)
}

// forwarding tests how the forward proxy processes each response of an origin.
func forwarding() []dialog {
	var all []dialog
	for _, script := range append(slices.Clone(replyScripts), byteScripts...) {
		all = append(all, twice("GET "+script, proxied("GET", script, "get")))
		all = append(all, dialog{
			name: "HEAD, GET, HEAD " + script,
			steps: []step{
				{send: proxied("HEAD", script, "head")},
				{send: proxied("GET", script, "head")},
				{send: proxied("HEAD", script, "head")},
			},
		})
		all = append(all, once("HTTP/1.0 "+script,
			strings.Replace(proxied("GET", script, "old"), "HTTP/1.1", "HTTP/1.0", 1)))
		if slices.Contains(byteScripts, script) {
			all = append(all, once("TE: trailers "+script,
				proxied("GET", script, "te", "TE: trailers", "Connection: TE")),
				once("POST "+script, proxied("POST", script, "post", "Content-Length: 5")+"hello"))
			continue
		}
		all = append(all, once("HTTP/1.0 keep-alive "+script,
			strings.Replace(proxied("GET", script, "old", "Connection: keep-alive"), "HTTP/1.1", "HTTP/1.0", 1)))
		if script != "larger" {
			all = append(all, once("POST "+script, proxied("POST", script, "post", "Content-Length: 5")+"hello"))
			all = append(all, once("Range "+script, proxied("GET", script, "range", "Range: bytes=1-3")))
			all = append(all, dialog{
				name: "Range of stored " + script,
				steps: []step{
					{send: proxied("GET", script, "stored")},
					{send: proxied("GET", script, "stored", "Range: bytes=1-3")},
					{send: proxied("GET", script, "stored", "If-None-Match: \"v1\"")},
				},
			})
			all = append(all, twice("with Authorization "+script,
				proxied("GET", script, "auth", "Authorization: Basic dTpw")))
			all = append(all, dialog{
				name: "no-cache " + script,
				steps: []step{
					{send: proxied("GET", script, "nocache")},
					{send: proxied("GET", script, "nocache", "Cache-Control: no-cache")},
					{send: proxied("GET", script, "nocache", "Cache-Control: only-if-cached")},
				},
			})
		}
	}
	for _, target := range []string{
		"http://origin.example:8001/", "http://closed.example:8000/", "http://private.example/", "http://none.example/",
		"http://failing.example/", "http://silent.example/", "http://denied.example/", "http://urnd.example:8141/",
		"http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://169.254.169.254/",
		"https://origin.example:8000/short/x", "http://origin.example:25/", "http://u:p@origin.example:8000/short/x",
		"http://origin.example:8000", "http://origin.example:8000?x", "http://origin.example:8000/short/a/../b",
		"HTTP://ORIGIN.example:08000/%73hort/%7ea", "http://origin.example:8000/short/a#b",
		"http://origin.example:8000/echo/a%zz", "http://origin.example:8000/echo/a[b]",
		"http://origin.example:8000/echo//a", "http://origin.example:99999/", "http://origin.example:0/", "http:///x",
		"http://", "http:x", "gopher://gopher.example:7070/", "gopher://gopher.example:7070/0/text",
		"gopher://gopher.example:7070/9/binary",
		"gopher://gopher.example:7070/0/none", "gopher://closed.example:7070/", "ftp://closed.example:8021/",
		"finger://finger.example/", "telnet://a.example/", "mailto:a@b.example", "x://a.example/", "file:///etc/passwd",
		"news:comp.lang.go", "wais://closed.example:8210/db", "urn:retrieved:short/x",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			all = append(all, once(method+" "+target,
				request(method+" "+target+" HTTP/1.1", "Host: origin.example:8000")))
		}
	}
	for _, field := range []string{
		"Max-Forwards: 0", "Max-Forwards: 1", "Max-Forwards: x", "Via: 1.1 a", "Via: 1.1 urnd",
		"X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "Connection: X-Secret\r\nX-Secret: 1",
		"Proxy-Authorization: Basic dTpw", "Proxy-Connection: close", "TE: trailers, deflate", "Upgrade: h2c",
		"Keep-Alive: 1", "Expect: 100-continue",
		"Accept-Encoding: gzip", "Cookie: a=b", "Origin: https://a.example", "User-Agent: test", "X_under: 1",
		"Proxy: x", "Pragma: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0",
		"Cache-Control: max-stale", "Cache-Control: min-fresh=9000", "Cache-Control: stale-if-error=9",
		"If-Match: \"v1\"", "If-Match: \"v2\"", "If-Unmodified-Since: " + modified, "Range: bytes=0-",
		"Range: bytes=-5", "Range: x", "X-Kind: a", "Accept-Language: de", "Priority: u=1",
		"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Request-Id: of-the-client",
		"Sec-Fetch-Mode: navigate", "Date: x", "Content-Type: x",
	} {
		for _, method := range []string{"GET", "OPTIONS"} {
			all = append(all, once(method+" echo with "+field, proxied(method, "echo", "fields", field)))
		}
		all = append(all, dialog{
			name:  "a stored page with " + field,
			steps: []step{{send: proxied("GET", "short", "fields")}, {send: proxied("GET", "short", "fields", field)}},
		})
		all = append(all, twice("a stale page with "+field, proxied("GET", "must", "fields", field)))
	}
	for i, kind := range []string{"a", "b", "a"} {
		all = append(all, twice(fmt.Sprintf("variant %d, of %s", i, kind),
			proxied("GET", "vary", "variants", "X-Kind: "+kind, "Accept-Language: en")))
	}
	for _, method := range strings.Fields("PUT POST DELETE PATCH PURGE MKCOL") {
		all = append(all, dialog{
			name: method + " of a stored page",
			steps: []step{
				{send: proxied("GET", "short", method)},
				{send: proxied(method, "short", method)},
				{send: proxied("GET", "short", method)},
			},
		})
		d := dialog{
			name: method + " by a stranger", from: otherClient,
			steps: []step{{send: proxied(method, "short", method)}},
		}
		all = append(all, d)
	}
	return append(all, collapsed())
}

// collapsed is a request during the same request of another client: both get one response.
func collapsed() dialog {
	return dialog{name: "two clients at a time", play: func(w *world, n *normalizer) ([]string, int, error) {
		first, err := dialog{}.connect(w, n)
		if err != nil {
			return nil, 0, err
		}
		defer first.Close()
		second, err := dialog{}.connect(w, n)
		if err != nil {
			return nil, 0, err
		}
		defer second.Close()
		g := w.origin.gate("/gate/collapsed")
		text := proxied("GET", "gate", "collapsed")
		if err := first.step(step{send: text, waits: true}); err != nil {
			return nil, 0, err
		}
		defer g.release()
		if err := g.await(); err != nil {
			return nil, 0, err
		}
		if err := second.step(step{send: text, waits: true, consumed: true}); err != nil {
			return nil, 0, err
		}
		g.release()
		first.readFinal("GET", false)
		second.readFinal("GET", false)
		lines := append(append(first.lines, "| a second client"), second.lines...)
		return lines, 2, nil
	}}
}

// sites tests urnd as the gateway of a site.
func sites() []dialog {
	var all []dialog
	at := func(host, method, target string, fields ...string) string {
		return request(method+" "+target+" HTTP/1.1", append([]string{"Host: " + host}, fields...)...)
	}
	for _, script := range append(slices.Clone(replyScripts), byteScripts...) {
		if slices.Contains(byteScripts, script) && script != "trailer" && script != "chunked" && script != "early" ||
			script == "larger" || script == "hop" {
			continue // its connection closes, which may affect the next request
		}
		for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
			text := at("site.example", method, "/"+script+"/"+method)
			all = append(all, twice(method+" "+script, text))
		}
	}
	for _, target := range []string{
		"/urn:plain:main", "/robots.txt", "/", "/echo/?x=%zz", "/echo/a%2fb",
		"/echo/../echo/x", "//echo/x", "/echo/\xe4", "/echo/a|b", "*", "http://site.example/echo/absolute",
		"http://other.example/echo/absolute", "urn:plain:main", "/uri-res/N2L?urn:plain:a", "/favicon.ico",
		"/.well-known/api-catalog", "/echo/#f",
	} {
		for _, host := range []string{"site.example", "normal.example", "down.example"} {
			for _, method := range []string{"GET", "OPTIONS"} {
				all = append(all, twice(method+" "+target+" of "+host, at(host, method, target)))
			}
		}
	}
	for _, field := range []string{
		"X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "X_under: 1", "X.dot: 1",
		"Proxy: x", "Range: bytes=0-3", "If-None-Match: \"v1\"", "Cache-Control: no-cache", "Cookie: a=b",
		"Authorization: Basic dTpw", "Origin: https://a.example", "Via: 1.1 a", "Accept-Encoding: gzip",
		"Connection: close", "Content-Length: 5", "TE: trailers", "Max-Forwards: 0", "CDN-Loop: urnd",
	} {
		body := map[bool]string{true: "hello"}[strings.HasPrefix(field, "Content-Length")]
		for _, target := range []string{"/echo/fields", "/short/fields", "/static/fields"} {
			all = append(all, twice(target+" with "+field, at("site.example", "GET", target, field)+body))
		}
	}
	for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
		for _, connection := range []string{"close", "keep-alive"} {
			for _, target := range []string{"/short/versions", "/nostore/versions", "/large/versions"} {
				all = append(all, twice(version+" "+target+" "+connection,
					request("GET "+target+" "+version, "Host: site.example", "Connection: "+connection)))
			}
		}
	}
	return all
}

// fetches are resources retrieved by /fetch and N2R for browsers.
func fetches() []dialog {
	var all []dialog
	for _, script := range replyScripts {
		if script == "larger" || script == "loop" {
			continue
		}
		all = append(all, twice("fetch "+script, get("/fetch?uri=http://"+originOf(script)+"/"+script+"/fetch")))
		all = append(all, once("N2R "+script, get("/uri-res/N2R?urn:retrieved:"+script+"/n2r")),
			once("HEAD "+script, request("HEAD /fetch?uri=http://"+originOf(script)+"/"+script+"/head HTTP/1.1",
				"Host: urnd.example")))
	}
	for _, uri := range []string{
		"", "x", "urn:plain:a", "urn:nbn:fi:book", "gopher://gopher.example:7070/",
		"gopher://gopher.example:7070/0/text", "gopher://gopher.example:7070/9/binary",
		"gopher://gopher.example:7070/0/none", "gopher://closed.example:7070/", "telnet://a.example/",
		"mailto:a@b.example", "http://denied.example/", "http://private.example/",
		"http://closed.example:8000/", "http://none.example/", "file:///etc/passwd", "ftp://closed.example:8021/",
		"news:comp.lang.go", "x://a.example/", "http://origin.example:8000/short/a%20b",
		"http%3A%2F%2Forigin.example%3A8000%2Fshort%2Fencoded", "javascript:alert(1)", "data:,a",
		"https://origin.example:8000/",
	} {
		for _, accept := range []string{"", "text/html", "text/plain"} {
			fields := []string{}
			if accept != "" {
				fields = append(fields, "Accept: "+accept)
			}
			all = append(all, once("fetch "+uri+" as "+accept, get("/fetch?uri="+uri, fields...)))
		}
	}
	for _, fields := range []string{
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image",
		"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
		"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty",
		"Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document",
		"Origin: https://evil.example", "Origin: https://catalogue.example", "Referer: https://catalogue.example/x",
		"Referer: https://evil.example/x", "Range: bytes=1-3", "If-None-Match: \"v1\"", "Cache-Control: no-cache",
		"Cookie: a=b", "Authorization: Basic dTpw", "Connection: close", "Accept-Encoding: gzip",
		"X-Forwarded-For: 192.0.2.1", "Via: 1.1 a",
	} {
		for _, target := range []string{
			"/fetch?uri=http://origin.example:8000/html/browsers",
			"/fetch?uri=http://origin.example:8000/static/browsers", "/uri-res/N2R?urn:nbn:fi:retrieved",
			"/fetch?uri=gopher://gopher.example:7070/0/text",
		} {
			all = append(all, twice(target+" with "+fields, get(target, fields)))
			all = append(all, once(target+" of other.example with "+fields,
				request("GET "+target+" HTTP/1.1", "Host: other.example", fields)))
		}
	}
	return all
}

// tunnels are CONNECT requests and upgrades.
func tunnels() []dialog {
	var all []dialog
	connect := func(target string, fields ...string) string {
		return request("CONNECT "+target+" HTTP/1.1", append([]string{"Host: " + target}, fields...)...)
	}
	for _, target := range []string{
		"denied.example:443", "none.example:443", "closed.example:9443", "private.example:443", "echo.example:25",
		"echo.example", "echo.example:", ":443", "", "/", "http://echo.example:9443/", "echo.example:x",
		"127.0.0.1:443", "[::1]:443", "urnd.example:443", "failing.example:443", "u:p@echo.example:9443",
		"echo.example:99999", "echo.example:9443/x", "urn:plain:main",
	} {
		all = append(all, once("CONNECT "+target, connect(target)),
			once("CONNECT "+target+" by HTTP/1.0", request("CONNECT "+target+" HTTP/1.0")))
	}
	for name, fields := range map[string][]string{
		"": nil, "with a length": {"Content-Length: 0"}, "with Connection: close": {"Connection: close"},
		"with a body": {"Content-Length: 5"}, "with chunks": {"Transfer-Encoding: chunked"},
		"with Proxy-Connection": {"Proxy-Connection: keep-alive"}, "with Expect": {"Expect: 100-continue"},
		"with another Host": {"X: y"},
	} {
		all = append(all, dialog{
			name: "a tunnel " + name,
			steps: []step{
				{send: connect("echo.example:9443", fields...)},
				{send: "hello", tunnel: 5},
				{send: "again", tunnel: 5, fin: true},
			},
		})
	}
	sorted(all[len(all)-8:])
	all = append(all, dialog{
		name: "bytes at once",
		steps: []step{
			{send: connect("echo.example:9443") + "hello", methods: []string{"CONNECT"}},
			{tunnel: 5},
			{send: "more", tunnel: 4, fin: true},
		},
	},
		dialog{
			name: "a tunnel by HTTP/1.0",
			steps: []step{
				{send: request("CONNECT echo.example:9443 HTTP/1.0")},
				{send: "hello", tunnel: 5, fin: true},
			},
		},
		dialog{
			name: "a tunnel behind a request",
			steps: []step{
				{send: get("/urn:plain:main")},
				{send: connect("echo.example:9443")},
				{send: "hello", tunnel: 5, fin: true},
			},
		},
		dialog{
			name: "a tunnel behind a request, in one write",
			steps: []step{{
				send:    get("/urn:plain:main") + connect("echo.example:9443") + "hello",
				methods: []string{"GET", "CONNECT"},
			}, {tunnel: 5, fin: true}},
		},
		dialog{
			name: "a tunnel by TLS", tls: true,
			steps: []step{{send: connect("echo.example:9443")}, {send: "hello", tunnel: 5, fin: true}},
		},
		dialog{
			name: "a large tunnel",
			steps: []step{
				{send: connect("echo.example:9443")},
				{send: strings.Repeat("x", 100_000), tunnel: 100_000, fin: true},
			},
		},
		dialog{
			name: "a tunnel for nobody", from: "127.0.0.5",
			steps: []step{{send: connect("echo.example:9443"), fin: true}},
		})
	upgrade := []string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Version: 13",
	}
	for _, target := range []string{"http://origin.example:8000/websocket/a", "/websocket/a"} {
		host := map[bool]string{true: "Host: site.example", false: "Host: origin.example:8000"}[target[0] == '/']
		text := request("GET "+target+" HTTP/1.1", append([]string{host}, upgrade...)...)
		all = append(all, dialog{
			name:  "an upgrade of " + target,
			steps: []step{{send: text}, {send: "hello", tunnel: 5}, {send: "again", tunnel: 5, fin: true}},
		},
			dialog{
				name:  "an upgrade of " + target + " and bytes",
				steps: []step{{send: text + "hello", methods: []string{"GET"}}, {tunnel: 5, fin: true}},
			},
			once("an upgrade by HTTP/1.0 of "+target, strings.Replace(text, "HTTP/1.1", "HTTP/1.0", 1)),
			once("an upgrade by HEAD of "+target, strings.Replace(text, "GET", "HEAD", 1)))
	}
	for _, target := range []string{
		"/urn:plain:main", "http://origin.example:8000/short/upgrade",
		"http://origin.example:8000/echo/upgrade", "/short/upgrade",
	} {
		host := map[bool]string{
			true:  "Host: site.example",
			false: "Host: origin.example:8000",
		}[target == "/short/upgrade"]
		for _, to := range []string{"websocket", "h2c", "TLS/1.2", "x", "websocket, h2c", ""} {
			all = append(all, once("no upgrade of "+target+" to "+to,
				request("GET "+target+" HTTP/1.1", host, "Connection: Upgrade", "Upgrade: "+to)))
		}
	}
	return all
}
