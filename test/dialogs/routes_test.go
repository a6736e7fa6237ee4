//go:build e2e

package dialogs

import "strings"

// routes are all paths of urnd except names.
func routes() []dialog {
	var all []dialog
	for _, target := range pageTargets {
		all = append(all, twice("GET "+target, get(target)),
			twice("HEAD "+target, request("HEAD "+target+" HTTP/1.1", "Host: urnd.example")))
	}
	for _, target := range strings.Fields("/robots.txt /favicon.ico /api/v1/openapi.json / /docs /names /none") {
		for _, coding := range []string{
			"gzip", "gzip, br", "gzip;q=0", "identity;q=0", "*", "deflate", "br",
			"identity", "gzip;q=0.5, identity;q=0.1", "",
		} {
			all = append(all, once("GET "+target+" with Accept-Encoding "+coding,
				get(target, "Accept-Encoding: "+coding)))
		}
	}
	return all
}

// pageTargets are targets of pages, documents and nonexistent resources.
var pageTargets = []string{
	"/", "/?uri=", "/?x=1", "/?", "/robots.txt", "/robots.txt?x", "/favicon.ico", "/opensearch.xml", "/sitemap.xml",
	"/sitemap-1.xml", "/sitemap-2.xml", "/sitemap-x.xml", "/api/v1/openapi.json", "/api/v1/", "/api", "/docs", "/docs/",
	"/docs/names", "/docs/resolution", "/docs/none", "/names", "/names?prefix=urn:nbn:fi:", "/names?q=kalevala",
	"/names?status=withdrawn", "/names?host=library.example", "/names?after=x", "/names?prefix=%zz", "/namespaces",
	"/namespaces?q=isbn", "/namespaces/isbn", "/namespaces/ISBN", "/namespaces/none", "/.well-known/api-catalog",
	"/.well-known/ark", "/.well-known/security.txt", "/.well-known/gs1resolver", "/.well-known/none", "/proxy.pac",
	"/wpad.dat", "/logo.svg", "/home", "/login", "/style.css", "/healthz", "/readyz", "/metrics", "/index.html",
	"/none",
	"/none/at/all",
	"//", "///", "/.", "/..", "/../", "/%2e%2e/", "/a:b", "/x?a:b", "/%", "/%zz", "/%00", "/\xe4", "/ä", "/a[b]",
	"/a|b", "/a\"b", "/a#b", "/#", "*",
}

// pages are pages and errors for browsers, in their languages.
func pages() []dialog {
	var all []dialog
	html := "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	languages := []string{"en", "de", "fr", "es", "zh", "de-CH, de;q=0.9, en;q=0.8", "x, *;q=0.5", "it"}
	for _, target := range []string{
		"/", "/docs", "/docs/names", "/names", "/names?q=kalevala", "/namespaces", "/namespaces/isbn", "/none",
		"/urn:a", "/urn:isbn:0-395-36341-2", "/urn:nbn:fi:gone", "/urn:nbn:fi:none",
		"/uri-res/N2C.html?urn:nbn:fi:book", "/urn:nbn:fi:book?preview", "/urn:nbn:fi:book+",
		"/api/v1/explain?uri=urn:nbn:fi:book",
		"/fetch?uri=gopher://gopher.example:7070/", "/fetch?uri=telnet://a.example/",
	} {
		for i, language := range languages {
			if i > 1 && target != "/" && target != "/none" && target != "/urn:nbn:fi:gone" { // they are large
				continue
			}
			all = append(all, once(target+" in "+language, get(target, html, "Accept-Language: "+language)))
		}
		all = append(all, once(target+" in fi by lang",
			get(target+map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")]+"lang=fr", html)))
	}
	for _, target := range strings.Fields("/sitemap.xml /sitemap-1.xml /sitemap-2.xml /robots.txt / " +
		"/urn:nbn:fi:book /urn:nbn:fi:none /.well-known/api-catalog /uri-res/N2C.linkset?urn:nbn:fi:book") {
		all = append(all, twice("with public_url: "+target, get(target)))
		all = append(all, once("with public_url, by another host: "+target,
			request("GET "+target+" HTTP/1.1", "Host: other.example")))
	}
	return all
}

// admin tests the admin interface, as far as its responses are identical in all runs.
func admin() []dialog {
	var all []dialog
	add := func(d dialog) {
		d.at = (*world).admin
		all = append(all, d)
	}
	for _, target := range []string{
		"/", "/healthz", "/readyz", "/status.js", "/openapi.json", "/docs", "/none", "/robots.txt", "/favicon.ico",
		"/api/v1/cache/entries?uri=urn:plain:none", "/api/v1/names?uri=urn:nbn:fi:book",
		"/api/v1/names?uri=urn:nbn:fi:none", "/api/v1/names?prefix=urn:nbn:fi:&limit=2",
		"/api/v1/names/history?uri=urn:nbn:fi:book", "/api/v1/prefixes?uri=urn:nbn:fi:p-", "/api/v1/jobs",
		"/api/v1/tokens", "/api/v1/config?origins=true", "/api/v1/health",
		"/api/v1/names/export?prefix=urn:own:&format=csv",
		"/debug/pprof/cmdline?x", "/api/v1/none", "urn:nbn:fi:book", "/urn:nbn:fi:book", "http://urnd.example/healthz",
	} {
		if strings.Contains(target, "config") || target == "/" || strings.Contains(target, "cmdline") {
			continue // contain the directory of the run, and counters
		}
		for _, method := range strings.Fields("GET HEAD POST OPTIONS DELETE TRACE X") {
			if method != "GET" && method != "HEAD" && strings.Contains(target, "/api/") {
				continue // require a token
			}
			add(once(method+" "+target, request(method+" "+target+" HTTP/1.1", "Host: localhost")))
		}
	}
	for _, host := range []string{"localhost:8142", "urnd.example", "other.example", "127.0.0.1", "[::1]", ""} {
		add(once("Host "+host, request("GET /healthz HTTP/1.1", "Host: "+host)))
	}
	for _, method := range strings.Fields("PUT PATCH DELETE POST") {
		add(once(method+" without a token",
			request(method+" /api/v1/names?uri=urn:nbn:fi:new HTTP/1.1", "Host: localhost",
				"Content-Type: application/json", "Content-Length: 2")+"{}"))
	}
	add(once("DELETE of an entry that is not there",
		request("DELETE /api/v1/cache/entries?uri=urn:plain:none HTTP/1.1", "Host: localhost")))
	add(once("no Host", request("GET /healthz HTTP/1.1")))
	add(once("HTTP/1.0", request("GET /healthz HTTP/1.0")))
	add(once("HTTP/1.0 with keep-alive", request("GET /healthz HTTP/1.0", "Host: localhost", "Connection: keep-alive")))
	add(once("a malformed head", "GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n"))
	add(once("Via", request("GET /healthz HTTP/1.1", "Host: localhost", "Via: 1.1 proxy")))
	add(once("X-Forwarded-For", request("GET /healthz HTTP/1.1", "Host: localhost", "X-Forwarded-For: 192.0.2.1")))
	add(once("from another site",
		request("GET /healthz HTTP/1.1", "Host: localhost", "Origin: https://evil.example",
			"Sec-Fetch-Site: cross-site")))
	add(pipelined("pipelined", strings.Repeat(request("GET /healthz HTTP/1.1", "Host: localhost"), 1),
		request("GET /readyz HTTP/1.1", "Host: localhost"), request("GET /none HTTP/1.1", "Host: localhost")))
	return all
}
