//go:build e2e

package dialogs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// pipelines are several requests in one write.
func pipelines() []dialog {
	hit, miss := get("/urn:plain:hit"), func(n int) string { return get(fmt.Sprintf("/urn:plain:miss-%d", n)) }
	page := request("GET http://origin.example:8000/short/pipelines HTTP/1.1", "Host: origin.example:8000")
	uncached := func(n int) string {
		return request(fmt.Sprintf("GET http://origin.example:8000/nostore/%d HTTP/1.1", n),
			"Host: origin.example:8000")
	}
	large := request("GET http://origin.example:8000/large/pipelines HTTP/1.1", "Host: origin.example:8000")
	post := "POST http://origin.example:8000/echo/pipelines HTTP/1.1\r\nHost: " +
		"origin.example:8000\r\nContent-Length: 5\r\n\r\nhello"
	all := []dialog{twice("the name", hit), twice("the page", page), twice("the large page", large)}
	n := 0
	next := func() string { n++; return miss(n) }
	parts := map[string]func() string{
		"hit": func() string { return hit }, "miss": next, "page": func() string { return page },
		"large": func() string { return large }, "uncached": func() string { n++; return uncached(n) },
		"none": func() string { return get("/urn:nbn:fi:none") },
		"head": func() string { return strings.Replace(hit, "GET", "HEAD", 1) }, "post": func() string { return post },
		"document": func() string { return get("/robots.txt") }, "error": func() string { return get("/urn:a") },
		"slow":    func() string { return get("/urn:silent:" + itoa(n)) },
		"options": func() string { return strings.Replace(hit, "GET", "OPTIONS", 1) },
		"fails":   func() string { return get("/urn:failing:a") },
	}
	order := strings.Fields("hit miss page large uncached none head post document error options fails")
	for _, first := range order {
		for _, second := range order {
			all = append(all, pipelined(first+", "+second, parts[first](), parts[second]()))
			all = append(all, pipelined(first+", "+second+", hit", parts[first](), parts[second](), hit))
		}
	}
	for _, one := range append(order, "slow") {
		var twenty []string
		for range 20 {
			twenty = append(twenty, parts[one]())
		}
		if one != "slow" {
			all = append(all, pipelined("twenty "+one, twenty...))
		}
		all = append(all, pipelined(one+" among hits", hit, hit, parts[one](), hit, hit))
	}
	var mixed []string
	for i := range 24 {
		mixed = append(mixed, parts[order[i%len(order)]]())
	}
	all = append(all, pipelined("all, twice", mixed...))
	lasts := map[string]string{
		"Connection: close": get("/urn:plain:hit", "Connection: close"),
		"HTTP/1.0":          request("GET /urn:plain:hit HTTP/1.0", "Host: urnd.example"),
		"a malformed head":  "GET /urn:plain:hit HTTP/1.1\r\nHost : a\r\n\r\n",
		"no Host":           request("GET /urn:plain:hit HTTP/1.1"), "no version": "GET /urn:plain:hit\r\n\r\n",
		"HTTP/2.0":                request("GET /urn:plain:hit HTTP/2.0", "Host: a"),
		"a bad length":            get("/urn:plain:hit", "Content-Length: x"),
		"a smuggled length":       get("/urn:plain:hit", "Content-Length: 5", "Transfer-Encoding: chunked"),
		"CONNECT that is refused": request("CONNECT denied.example:443 HTTP/1.1", "Host: denied.example:443"),
		"a long target":           get("/urn:plain:" + strings.Repeat("a", 9000)),
		"a large head":            get("/urn:plain:hit", "X: "+strings.Repeat("y", 80_000)),
		"a body that is refused": "POST /urn:plain:hit HTTP/1.1\r\nHost: urnd.example\r\nContent-Length: " +
			"5\r\n\r\nhello",
		"a large body that is refused": "POST /urn:plain:hit HTTP/1.1\r\nHost: urnd.example\r\nContent-Length: " +
			"300000\r\n\r\n" + strings.Repeat("x", 300_000),
		"an empty line": "\r\n", "a body of GET": get("/urn:plain:hit", "Content-Length: 5") + "hello",
		"an unknown method": strings.Replace(hit, "GET", "BREW", 1), "TRACE": strings.Replace(hit, "GET", "TRACE", 1),
		"Expect": get("/urn:plain:hit", "Expect: x"),
	}
	for _, name := range slices.Sorted(maps.Keys(lasts)) {
		last := lasts[name]
		// The last request is only answered if the connection persists: fate reads the result.
		for before, behind := range map[string]string{
			"alone": "", "behind a hit": hit,
			"behind a miss": get("/urn:plain:behind-" + itoa(len(name)) + name[:1]),
		} {
			text := behind + last + hit
			methods := methodsOf([]string{behind, last})
			if behind == "" {
				methods = methods[1:]
			}
			if last == "\r\n" { // not a request
				methods = methods[:len(methods)-1]
			}
			all = append(all, dialog{
				name:  name + " " + before + ", and a hit",
				steps: []step{{send: text, methods: methods}, {send: "", methods: []string{"GET"}}},
			})
		}
	}
	rest := all[3:]
	sorted(rest)
	return all
}

// cuts are requests that end at any byte, and requests sent in two parts.
func cuts() []dialog {
	var all []dialog
	for name, text := range map[string]string{
		"a name": "GET /urn:plain:cut HTTP/1.1\r\nHost: urnd.example\r\nX: y\r\n\r\n",
		"a page": "GET http://origin.example:8000/short/cuts HTTP/1.1\r\nHost: origin.example:8000\r\n\r\n",
		"a post": "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nContent-Type: " +
			"text/plain\r\n\r\nurn:plain:a",
		"chunks": "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Type: " +
			"text/plain\r\n\r\n5;x=y\r\nurn:p\r\n6\r\nlain:a\r\n0\r\nX: y\r\n\r\n",
		"a document": "HEAD /robots.txt HTTP/1.0\r\n\r\n",
	} {
		all = append(all, twice(name, text))
		for at := 1; at < len(text); at++ {
			if name == "a page" && at%3 != 0 {
				continue
			}
			all = append(all, dialog{
				name:  fmt.Sprintf("%s, cut off behind byte %03d", name, at),
				steps: []step{{send: text[:at], fin: true, methods: []string{}}},
			})
			all = append(all, dialog{
				name: fmt.Sprintf("%s, in two parts at byte %03d", name, at),
				steps: []step{
					{send: text[:at], waits: true, consumed: true},
					{send: text[at:], methods: []string{methodOf(text)}},
				},
			})
			if at%5 == 0 {
				all = append(all, dialog{
					name: fmt.Sprintf("%s behind a hit, in two parts at byte %03d", name, at),
					steps: []step{
						{send: get("/urn:plain:cut") + text[:at], methods: []string{"GET"}},
						{send: text[at:], methods: []string{methodOf(text)}},
					},
				})
				all = append(all, dialog{
					name:  fmt.Sprintf("%s behind a hit, cut off behind byte %03d", name, at),
					steps: []step{{send: get("/urn:plain:cut") + text[:at], fin: true, methods: []string{"GET"}}},
				})
			}
		}
	}
	sorted(all)
	one := get("/urn:plain:cut")
	all = append(all, dialog{name: "FIN without a request", steps: []step{{fin: true, methods: []string{}}}},
		dialog{name: "FIN behind a request", steps: []step{{send: one, fin: true}}},
		dialog{
			name:  "FIN behind three requests",
			steps: []step{{send: one + one + one, fin: true, methods: []string{"GET", "GET", "GET"}}},
		},
		dialog{name: "FIN behind a miss", steps: []step{{send: get("/urn:plain:finmiss"), fin: true}}},
		dialog{name: "FIN behind a slow name", steps: []step{{send: get("/urn:silent:fin"), fin: true}}},
		dialog{
			name: "FIN behind a page",
			steps: []step{{send: request("GET http://origin.example:8000/nostore/fin HTTP/1.1",
				"Host: origin.example:8000"), fin: true}},
		})
	var single []step
	for _, c := range []byte(one) {
		single = append(single, step{send: string(c), waits: true, consumed: true})
	}
	single[len(single)-1] = step{send: "\n", methods: []string{"GET"}}
	return append(all, dialog{name: "one byte at a time", steps: single})
}

// secured are HTTP/1 requests over TLS.
func secured() []dialog {
	var all []dialog
	for _, target := range mainTargets {
		for _, d := range []dialog{
			twice("GET "+target, get(target)), twice("GET "+target+" and close", get(target, "Connection: close")),
			once("HTTP/1.0 "+target, request("GET "+target+" HTTP/1.0")),
			pipelined("three of "+target, get(target), get(target), get(target)),
			once("a body to "+target,
				request("POST "+target+" HTTP/1.1", "Host: urnd.example", "Content-Length: 11")+"urn:plain:a"),
		} {
			d.tls = true
			all = append(all, d)
		}
	}
	all = append(all, dialog{
		name: "a malformed head", tls: true,
		steps: []step{{send: "GET /urn:plain:main HTTP/1.1\r\nHost : a\r\n\r\n"}},
	},
		dialog{name: "no TLS at the port of TLS", at: (*world).secure, steps: []step{{send: get("/urn:plain:main")}}})
	return all
}

// proxyProtocol are connections of a load balancer, which begin with the address of the client.
func proxyProtocol() []dialog {
	var all []dialog
	one := get("/urn:plain:main")
	browse := get("/names?prefix=urn:own:")
	add := func(name, header, rest string) {
		d := once(name, header+rest)
		d.from = balancer
		d.steps[0].methods = []string{"GET"}
		all = append(all, d)
	}
	signature := "\r\n\r\n\x00\r\nQUIT\n"
	for _, header := range []string{
		"PROXY TCP4 127.0.0.1 127.0.0.9 1000 80\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1000 80\r\n",
		"PROXY TCP6 2001:db8::1 2001:db8::2 1000 80\r\n", "PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff:f...f:ffff x\r\n",
		"PROXY TCP4 127.0.0.1 127.0.0.9 1000 80\n", "PROXY TCP4 x 127.0.0.9 1000 80\r\n",
		"PROXY TCP4 127.0.0.1 127.0.0.9 100000 80\r\n", "PROXY TCP4 127.0.0.1 127.0.0.9 1000\r\n",
		"PROXY TCP5 127.0.0.1 127.0.0.9 1000 80\r\n", "PROXY  TCP4 127.0.0.1 127.0.0.9 1000 80\r\n",
		"proxy TCP4 127.0.0.1 127.0.0.9 1000 80\r\n", "PROXY TCP4 ::1 ::1 1000 80\r\n",
		"PROXY TCP6 127.0.0.1 127.0.0.9 1000 80\r\n", "PROXY\r\n", "PROXY " + strings.Repeat("x", 200) + "\r\n", "",
		signature + "\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x09\x03\xe8\x00\x50",
		signature + "\x21\x11\x00\x0c\xc0\x00\x02\x01\x7f\x00\x00\x09\x03\xe8\x00\x50", signature + "\x20\x00\x00\x00",
		signature + "\x21\x00\x00\x00",
		signature + "\x21\x11\x00\x10\x7f\x00\x00\x01\x7f\x00\x00\x09\x03\xe8\x00\x50\x04\x00\x01x",
		signature + "\x31\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x09\x03\xe8\x00\x50",
		signature + "\x22\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x09\x03\xe8\x00\x50",
		signature + "\x21\x11\x00\x04\x7f\x00\x00\x01",
		signature + "\x21\x21\x00\x24" + strings.Repeat("\x00", 15) + "\x01" + strings.Repeat("\x00", 15) +
			"\x02\x03\xe8\x00\x50", signature + "\x21\x31\x00\xd8" + strings.Repeat("\x00", 216),
		signature + "\x21\x12\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x09\x03\xe8\x00\x50",
	} {
		add(fmt.Sprintf("a name behind %.60q", header), header, one)
		add(fmt.Sprintf("a list behind %.60q", header), header, browse)
	}
	header := "PROXY TCP4 127.0.0.1 127.0.0.9 1000 80\r\n"
	all = append(all, dialog{
		name: "a header alone", from: balancer,
		steps: []step{{send: header, fin: true, methods: []string{}}},
	},
		dialog{
			name: "a part of a header", from: balancer,
			steps: []step{{send: header[:10], fin: true, methods: []string{}}},
		},
		dialog{
			name: "a header in two parts", from: balancer,
			steps: []step{
				{send: header[:10], waits: true, consumed: true},
				{send: header[10:] + one, methods: []string{"GET"}},
			},
		},
		dialog{
			name: "two headers", from: balancer,
			steps: []step{{send: header + header + one, methods: []string{"GET"}}},
		},
		dialog{
			name: "a header, then two requests", from: balancer,
			steps: []step{{send: header + one + one, methods: []string{"GET", "GET"}}, {send: one}},
		},
		dialog{
			name: "a header of who may send none", from: otherClient,
			steps: []step{{send: header + one, methods: []string{"GET"}}},
		})
	for _, field := range []string{
		"X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 127.0.0.1",
		"Forwarded: for=192.0.2.1", "Forwarded: for=127.0.0.1", "X-Forwarded-For: x", "Via: 1.1 a",
		"X-Forwarded-Proto: https", "X-Forwarded-Host: other.example", "X-Real-IP: 127.0.0.1", "",
	} {
		for _, from := range []string{localClient, trustedClient} {
			for _, target := range []string{
				"/names?prefix=urn:own:", "/urn:nbn:fi:book",
				"http://origin.example:8000/echo/forwarded",
			} {
				d := once(from+" "+target+" "+field, get(target, field))
				if field == "" {
					d = once(from+" "+target, get(target))
				}
				d.from = from
				all = append(all, d)
			}
		}
	}
	return all
}
