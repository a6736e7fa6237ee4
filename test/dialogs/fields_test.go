//go:build e2e

package dialogs

import (
	"fmt"
	"slices"
	"strings"
)

// storedTargets are served from a cache when requested again.
var storedTargets = []string{
	"/urn:plain:fields", "/urn:nbn:fi:typed", "/urn:nbn:fi:gone",
	"/uri-res/N2L?urn:plain:fields", "http://origin.example:8000/short/fields",
}

// fields are header fields that affect the response, or must not.
func fields() []dialog {
	var all []dialog
	for _, target := range storedTargets {
		all = append(all, twice(target, get(target)))
		for _, field := range []string{
			"Accept: */*", "Accept: text/html", "Accept: application/json", "Accept: application/problem+json",
			"Accept: text/html;q=0", "Accept: x", "Accept:", "Accept: application/linkset+json", "Accept: text/turtle",
			"Accept: text/html, */*;q=0.1", "Accept-Language: de", "Accept-Language: *", "Accept-Language: x;q=z",
			"Accept-Language:", "Accept-Encoding: gzip", "Accept-Encoding: identity;q=0", "Accept-Charset: utf-8",
			"Accept-Datetime: Tue, 01 Jun 2021 00:00:00 GMT", "Authorization: Basic dTpw", "Authorization: x",
			"Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0",
			"Cache-Control: only-if-cached", "Cache-Control: x, ,y=\"z\"", "Pragma: no-cache", "Connection: close",
			"Connection: keep-alive", "Connection: x", "Content-Length: 0", "Content-Type: text/plain",
			"Content-Encoding: gzip", "Cookie: a=b", "Date: x", "DNT: 1", "Early-Data: 1", "Expect: 100-continue",
			"Expect: x", "Forwarded: for=192.0.2.1", "Forwarded: x=\"", "From: a@b.example", "If-Match: *",
			"If-Match: \"x\"", "If-None-Match: *", "If-None-Match: \"v1\"", "If-None-Match: \"x\"",
			"If-Modified-Since: " + modified, "If-Modified-Since: x", "If-Unmodified-Since: " + modified,
			"If-Unmodified-Since: Tue, 01 Jan 1980 00:00:00 GMT",
			"If-Range: \"v1\"", "Keep-Alive: 1", "Max-Forwards: 0", "Origin: https://catalogue.example",
			"Origin: https://evil.example", "Origin: null", "Prefer: x", "Priority: u=1, i",
			"Proxy-Authorization: Basic dTpw", "Proxy-Connection: keep-alive", "Purpose: prefetch",
			"Range: bytes=0-1", "Range: bytes=0-1,3-4", "Range: x", "Referer: https://a.example/", "Save-Data: on",
			"Sec-CH-UA: x", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-GPC: 1", "TE: trailers",
			"TE: gzip", "Trailer: X", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			"traceparent: x", "tracestate: a=b", "baggage: a=b", "Transfer-Encoding: chunked\r\nX: y", "Upgrade: h2c",
			"Upgrade-Insecure-Requests: 1", "User-Agent: Mozilla/5.0", "User-Agent:", "Via: 1.1 a", "Via: 1.1 urnd",
			"Via:", "Warning: x", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: other.example",
			"X-Forwarded-Proto: https", "X-Real-IP: 192.0.2.1", "X-Request-Id: of-the-client", "X-Request-Id: a b",
			"X-Requested-With: x", "X-HTTP-Method-Override: DELETE", "X: y", "x: Y",
			"Access-Control-Request-Method: GET", "HTTP2-Settings: x", "Alt-Used: x", "CDN-Loop: urnd",
			"Service-Worker: script", "Last-Event-ID: 1", "Location: x", "Set-Cookie: a=b", "Host-x: a", "Depth: 1",
		} {
			send := get(target, field)
			if strings.HasPrefix(field, "Transfer-Encoding") {
				send += "0\r\n\r\n"
			}
			all = append(all, once(target+" with "+field, send))
		}
		for _, pair := range [][]string{
			{"Accept: text/html", "Accept: application/json"},
			{"Cookie: a=b", "Cookie: c=d"},
			{"User-Agent: a", "User-Agent: b"},
			{"Via: 1.0 a", "Via: 1.1 b"},
			{"If-None-Match: \"x\"", "If-None-Match: \"v1\""},
			{"If-None-Match: \"x\"", "If-Modified-Since: " + modified},
			{"Range: bytes=0-1", "If-Range: \"v1\""},
			{"Range: bytes=0-1", "If-Range: \"x\""},
			{"Range: bytes=0-1", "Range: bytes=2-3"},
			{"Connection: close", "Connection: close"},
			{"Content-Length: 0", "Content-Length: 0"},
			{"Origin: https://catalogue.example", "Origin: https://catalogue.example"},
			{"Authorization: a", "Authorization: b"},
			{"Expect: 100-continue", "Content-Length: 0"},
		} {
			all = append(all, once(target+" with "+strings.Join(pair, " and "), get(target, pair...)))
		}
	}
	return all
}

// negotiation is content negotiation by Accept and Accept-Language.
func negotiation() []dialog {
	var all []dialog
	accepts := []string{
		"", "*/*", "text/html", "application/pdf", "application/pdf;q=0.5, text/html;q=0.4", "text/html;q=0, */*",
		"image/png", "application/*", "application/json", "application/ld+json", "application/linkset",
		"application/linkset+json", "text/turtle", "text/x-bibliography", "application/x-bibtex",
		"application/x-research-info-systems", "application/vnd.citationstyles.csl+json", "text/plain", "text/csv",
		"application/problem+json", "text/html;level=1", "x", "*", "text/html, application/xhtml+xml, */*;q=0.8",
		"application/problem+xml",
		"text/uri-list",
	}
	for _, target := range []string{
		"/urn:nbn:fi:typed", "/urn:nbn:fi:book", "/urn:nbn:fi:none", "/urn:nbn:fi:gone",
		"/urn:several:a", "/uri-res/N2C?urn:nbn:fi:book", "/uri-res/N2Ls?urn:nbn:fi:two", "/urn:a", "/none",
		"/api/v1/explain?uri=urn:nbn:fi:book", "/names?prefix=urn:own:", "/namespaces/isbn", "/",
		"/urn:isbn:0-395-36341-2", "/urn:failing:x",
	} {
		for _, accept := range accepts {
			if accept == "" {
				all = append(all, twice(target, get(target)))
				continue
			}
			all = append(all, once(target+" as "+accept, get(target, "Accept: "+accept)))
		}
	}
	for _, target := range []string{"/urn:nbn:fi:languages", "/urn:several:a", "/urn:nbn:fi:none"} {
		for _, language := range []string{
			"en", "de", "fi", "fr", "de-AT", "fr, de;q=0.5", "*", "en;q=0, *", "x", "",
			"de;q=0", "DE", "zh-Hant, fi;q=0.1",
		} {
			for _, accept := range []string{"*/*", "text/html"} {
				all = append(all, once(target+" as "+accept+" in "+language,
					get(target, "Accept: "+accept, "Accept-Language: "+language)))
			}
		}
	}
	return all
}

// crossOrigin are requests of pages of other sites (Fetch, CORS).
func crossOrigin() []dialog {
	var all []dialog
	for _, target := range []string{
		"/urn:nbn:fi:book", "/urn:plain:main", "/urn:nbn:fi:none",
		"/uri-res/N2C?urn:nbn:fi:book", "/api/v1/resolve?uri=urn:plain:main", "/api/v1/resolve", "/api/v1/openapi.json",
		"/", "/robots.txt", "/fetch?uri=http://origin.example:8000/short/cors", "http://origin.example:8000/cors/a",
		"/none", "/api/handles/10.5555/a1", "*", "/timemap/urn:nbn:fi:book",
	} {
		for _, origin := range []string{
			"https://catalogue.example", "https://other.example", "https://evil.example",
			"null", "http://urnd.example", "*", "x", "",
		} {
			all = append(all, once("GET "+target+" of "+origin, get(target, "Origin: "+origin)))
			for _, method := range []string{"GET", "PUT"} {
				preflight := request("OPTIONS "+target+" HTTP/1.1", "Host: urnd.example", "Origin: "+origin,
					"Access-Control-Request-Method: "+method)
				all = append(all, once("preflight of "+method+" "+target+" of "+origin, preflight))
			}
			all = append(all, once("preflight with fields "+target+" of "+origin,
				request("OPTIONS "+target+" HTTP/1.1", "Host: urnd.example", "Origin: "+origin,
					"Access-Control-Request-Method: GET", "Access-Control-Request-Headers: accept, x-y",
					"Access-Control-Request-Private-Network: true")))
		}
		all = append(all, once("OPTIONS "+target, request("OPTIONS "+target+" HTTP/1.1", "Host: urnd.example")))
		for _, site := range []string{"cross-site", "same-site", "same-origin", "none", "x"} {
			for _, mode := range []string{"navigate", "cors"} {
				all = append(all, once(fmt.Sprintf("GET %s by fetch %s, %s", target, site, mode),
					get(target, "Sec-Fetch-Site: "+site, "Sec-Fetch-Mode: "+mode, "Sec-Fetch-Dest: document")))
			}
		}
	}
	return all
}

// conditions are conditional requests and range requests (RFC 9110 sections 13 and 14) for documents, cached
// pages and responses that are not stored.
func conditions() []dialog {
	var all []dialog
	for target, tag := range map[string]string{
		"/robots.txt": `"4IoZ3ysQx7R83_Gj"`, "/favicon.ico": `"YEpeQQ5vOpvpdTle"`,
		"http://origin.example:8000/static/conditions": `"v1"`, "http://origin.example:8000/must/conditions": `"v1"`,
		"http://origin.example:8000/nocache/conditions": `"v1"`,
		"http://origin.example:8000/ranges/conditions":  `"v1"`, "http://origin.example:8000/weak/conditions": `W/"v1"`,
		"/fetch?uri=http://origin.example:8000/static/conditions": `"v1"`, "/uri-res/N2R?urn:nbn:fi:retrieved": `"v1"`,
		"/uri-res/N2C?urn:nbn:fi:book": `"x"`, "/": `"x"`, "/urn:plain:main": `"x"`,
		"http://origin.example:8000/missing/conditions": `"v1"`,
	} {
		all = append(all, twice("GET "+target, get(target)))
		for _, fields := range []string{
			"If-None-Match: " + tag, "If-None-Match: W/" + tag, "If-None-Match: \"no\"",
			"If-None-Match: \"no\", " + tag, "If-None-Match: *", "If-None-Match: x", "If-None-Match:",
			"If-Match: " + tag, "If-Match: \"no\"", "If-Match: *", "If-Match: W/" + tag,
			"If-Modified-Since: " + modified, "If-Modified-Since: " + later,
			"If-Modified-Since: Tue, 01 Jan 1980 00:00:00 GMT", "If-Modified-Since: Tue, 01 Jan 2036 00:00:00 GMT",
			"If-Modified-Since: Wednesday, 01-May-19 10:00:00 GMT", "If-Modified-Since: x",
			"If-Unmodified-Since: " + modified, "If-Unmodified-Since: Tue, 01 Jan 1980 00:00:00 GMT",
			"If-None-Match: \"no\"\r\nIf-Modified-Since: " + later,
			"If-None-Match: " + tag + "\r\nIf-Modified-Since: Tue, 01 Jan 1980 00:00:00 GMT", "Range: bytes=0-0",
			"Range: bytes=1-3", "Range: bytes=1-", "Range: bytes=-3", "Range: bytes=0-99999", "Range: bytes=99999-",
			"Range: bytes=-0", "Range: bytes=3-1", "Range: bytes=x", "Range: x=0-1", "Range: bytes=0-1,3-4",
			"Range: bytes=0-1, 1-2", "Range: bytes=0-1,99999-", "Range: bytes=0-0,-1", "Range: bytes=",
			"Range: BYTES=0-1", "Range: bytes=" + strings.Repeat("0-0,", 200) + "1-1",
			"Range: bytes=0-1\r\nIf-Range: " + tag, "Range: bytes=0-1\r\nIf-Range: \"no\"",
			"Range: bytes=0-1\r\nIf-Range: " + modified, "Range: bytes=0-1\r\nIf-Range: " + later,
			"Range: bytes=0-1\r\nIf-None-Match: " + tag, "Range: bytes=0-1\r\nIf-Match: \"no\"", "If-Range: " + tag,
		} {
			name := strings.ReplaceAll(fmt.Sprintf("%s with %.60s", target, fields), "\r\n", " and ")
			all = append(all, once("GET "+name, get(target, fields)))
			if slices.Contains([]string{
				"/robots.txt", "http://origin.example:8000/static/conditions",
				"http://origin.example:8000/must/conditions",
			}, target) {
				all = append(all, once("HEAD "+name, request("HEAD "+target+" HTTP/1.1", "Host: urnd.example", fields)))
			}
		}
	}
	sorted(all)
	return all
}
