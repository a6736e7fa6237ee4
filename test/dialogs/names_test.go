//go:build e2e

package dialogs

import "strings"

// nameList contains names of all kinds, and invalid ones.
var nameList = []string{
	// built-in namespaces and rules
	"urn:ietf:rfc:2648", "URN:IETF:RFC:2648", "urn:ietf:bcp:14", "urn:ietf:none:1", "urn:isbn:0-395-36341-1",
	"urn:isbn:0395363411", "urn:isbn:9780395363416", "urn:isbn:0-395-36341-2", "urn:isbn:x", "urn:issn:0028-0836",
	"urn:issn:0028-0837", "urn:doi:10.1000/182", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "urn:oid:1.2.3",
	"urn:lex:it:stato:legge:2003", "urn:plain:a", "urn:plain:a/b", "urn:plain:a%2Fb", "urn:plain:a%C3%A4",
	"urn:PLAIN:A", "urn:plain:a?+r", "urn:plain:a?=q=1", "urn:plain:a?+r?=q", "urn:plain:a?=q#f", "urn:plain:a#f",
	"urn:plain:a%23f", "urn:plain:a?x", "urn:several:a", "urn:several:a?=lang=de", "urn:retrieved:static/n2r",
	// the registry
	"urn:nbn:fi:one", "URN:NBN:fi:one", "urn:nbn:FI:ONE", "urn:nbn:fi:book", "urn:nbn:fi:typed", "urn:nbn:fi:languages",
	"urn:nbn:fi:languages?=lang=de", "urn:nbn:fi:linked", "urn:nbn:fi:onlylinks", "urn:nbn:fi:two", "urn:nbn:fi:moved",
	"urn:nbn:fi:other", "urn:nbn:fi:kept", "urn:nbn:fi:lasting", "urn:nbn:fi:alias", "urn:nbn:fi:reserved",
	"urn:nbn:fi:gone", "urn:nbn:fi:lost", "urn:nbn:fi:none", "urn:nbn:fi:p-1", "urn:nbn:fi:p-a/b", "urn:nbn:fi:a-1",
	"urn:nbn:fi:a-x", "urn:nbn:fi:trial-1", "urn:nbn:fi:retrieved", "urn:nbn:fi:unreachable", "urn:nbn:fi:escaped",
	"urn:nbn:fi:book?preview", "urn:nbn:fi:book+", "urn:nbn:fi:book?=s=N2C", "urn:nbn:fi:book?=s=N2Ls",
	"urn:nbn:fi:book?=s=none", "urn:nbn:de:101:1-201102033592", "urn:own:a1", "urn:own:a2",
	"urn:own:none",
	// ARK, DOI, handles, GS1, identifiers in common notations
	"ark:/12345/x1", "ark:12345/x1", "ark:12345/x-1", "ARK:/12345/x1", "ark:/12345/x1?info", "ark:/12345/x1?",
	"ark:/12345/x1??", "ark:12345/x2/part", "ark:/12345/none", "ark:/99999/x", "ark:", "doi:10.5555/a1",
	"doi:10.5555/A1", "doi:10.5555/none", "doi:10.1000/182", "10.5555/a1", "10.1000/182", "hdl:20.500.9999/h1",
	"hdl:20.500.9999/none", "hdl:2027/x", "0-395-36341-1", "978-0-395-36341-6", "ISBN%200-395-36341-1", "0028-0836",
	"shelf%207", "PZ-7", "PZ-x", "info:doi/10.1000/182",
	// DNS and THTTP
	"urn:four:a", "urn:several4:a", "urn:served:a", "urn:served:none", "urn:served:gone", "urn:served:error",
	"urn:served:cut", "urn:addressed:a", "urn:delegated:a", "urn:looping:a", "urn:broken:a", "urn:failing:a",
	"urn:refusing:a", "urn:silent:a", "urn:unknown:a", "urn:held:a", "urn:held:none", "urn:held:gone", "urn:held:error",
	"urn:held:cut",
	// invalid names
	"urn:", "urn:a", "urn:a1", "urn:a1:", "urn:-a:b", "urn:urn-1:a", "urn:x-exp:a", "urn:plain:%zz", "urn:plain:%",
	"urn:plain:%00", "urn:plain:a b", "urn:plain:a%20b", "urn:plain:\xe4", "urn:plain:ä", "urn:plain:a[",
	"urn:plain:?a", "urn:plain:a?", "urn:plain:a?+", "urn:plain:a?=", "urn:plain:a#f#g", "urn:nbn:fi:<b>",
	"urn%3Aplain%3Aa", "%75rn:plain:a", "Urn:plain:a", "urn:plain:" + strings.Repeat("a", 3000),
	// URLs
	"http://a.example/", "HTTP://A.Example:80/b/../%7Ec", "https://a.example:443/?x=y#f", "http://a.example:99999/",
	"http:///", "http://user:secret@a.example/", "http://a.example/a%zz", "http://[::1]/",
	"ftp://a.example/b", "gopher://a.example/1", "mailto:a@b.example", "news:comp.lang.go", "file:///etc/passwd",
	"data:,a", "javascript:alert(1)", "telnet://a.example/", "x://a.example/", "tag:a.example,2020:b",
}

// names are all names in all forms of requests.
func names() []dialog {
	var all []dialog
	for _, name := range nameList {
		all = append(all, twice("/"+name, get("/"+name)))
		all = append(all, once("/?uri="+name, get("/?uri="+name)))
		all = append(all, once(name, get(name)))
		all = append(all, once("HEAD "+name, request("HEAD /"+name+" HTTP/1.1", "Host: urnd.example")))
	}
	return all
}

// services are the services of RFC 2483 and the API, for some names.
func services() []dialog {
	var all []dialog
	for _, name := range []string{
		"urn:isbn:0-395-36341-1", "urn:isbn:0-395-36341-2", "urn:nbn:fi:book", "urn:nbn:fi:two", "urn:nbn:fi:gone",
		"urn:nbn:fi:none",
		"urn:nbn:fi:retrieved", "urn:served:a", "urn:several4:a", "urn:failing:a",
		"http://origin.example:8000/static/l2r", "ark:/12345/x1", "urn:a",
	} {
		for _, service := range strings.Fields("N2L N2Ls N2R N2Rs N2C N2Cs N2N N2Ns n2l I2L L2L L2R X2Y N2C.html " +
			"N2C.json N2C.csv N2C.text N2C.linkset N2C.links N2C.jsonld N2C.turtle N2C.csl N2C.bibtex N2C.ris " +
			"N2C.citation N2C.erc N2C.qr N2C.none") {
			if strings.HasPrefix(service, "N2C.") && name != "urn:nbn:fi:book" && name != "ark:/12345/x1" &&
				name != "urn:nbn:fi:gone" {
				continue
			}
			target := "/uri-res/" + service + "?" + name
			all = append(all, twice(target, get(target)))
			if service == "N2L" || service == "N2Ls" || service == "N2R" {
				all = append(all, once(target+" by HTTP/1.0", request("GET "+target+" HTTP/1.0")))
			}
		}
		for _, target := range []string{
			"/api/v1/resolve?uri=", "/api/v1/resolve?service=N2Ls&uri=",
			"/api/v1/resolve?at=2021-01-01&uri=", "/api/v1/explain?uri=", "/api/v1/explain?format=text&uri=",
		} {
			all = append(all, once(target+name, get(target+name)))
		}
	}
	for _, target := range []string{
		"/uri-res/", "/uri-res/N2L", "/uri-res", "/uri-res/I=I?urn:isbn:0-395-36341-1%20urn:isbn:9780395363416",
		"/uri-res/I=I?urn:plain:a%20urn:plain:b", "/uri-res/I=I?urn:plain:a", "/api/v1/resolve",
		"/api/v1/resolve?service=N2L", "/api/v1/resolve?uri=urn:plain:a&at=never",
		"/api/v1/resolve?uri=urn:plain:a&service=none", "/api/v1/explain", "/api/v1/none",
		"/?uri=urn:nbn:fi:book&service=N2Ls", "/?uri=urn:nbn:fi:book&format=linkset",
		"/?uri=urn:nbn:fi:book&format=none", "/?uri=+urn:plain:a+", "/?uri=urn%3Aplain%3Aa",
		"/?uri=urn:plain:a&uri=urn:plain:b",
		// Memento (RFC 7089)
		"/timegate/urn:nbn:fi:book", "/timegate/urn:nbn:fi:one", "/timegate/urn:nbn:fi:none", "/timegate/urn:plain:a",
		"/timegate/http://urnd.example/urn:nbn:fi:book", "/timegate/", "/timegate/x", "/timemap/urn:nbn:fi:book",
		"/timemap/1/urn:nbn:fi:book", "/timemap/2/urn:nbn:fi:book", "/timemap/urn:nbn:fi:none", "/timemap/urn:plain:a",
		"/timemap/", "/memento/20210601000000/urn:nbn:fi:book", "/memento/20200601000000/urn:nbn:fi:book",
		"/memento/19990101000000/urn:nbn:fi:book", "/memento/20200501100000/urn:nbn:fi:book",
		"/memento/x/urn:nbn:fi:book", "/memento/20210601000000/urn:nbn:fi:none",
		"/memento/20210601000000/urn:nbn:fi:gone", "/memento/",
		"/memento/2021/urn:nbn:fi:book",
		// handles (docs/links.md)
		"/api/handles/20.500.12345/a1", "/api/handles/20.500.12345/a1?type=URL", "/api/handles/20.500.12345/a1?index=1",
		"/api/handles/20.500.12345/a1?pretty", "/api/handles/20.500.12345/a1?type=NONE", "/api/handles/20.500.12345/a2",
		"/api/handles/20.500.12345/none", "/api/handles/10.5555/a1", "/api/handles/10.5555/none", "/api/handles/99.9/x",
		"/api/handles/", "/api/handles/x",
		"/api/handles/10.5555/a1?callback=f",
	} {
		all = append(all, twice(target, get(target)))
	}
	for _, at := range []string{
		"Tue, 01 Jun 2021 00:00:00 GMT", "Mon, 01 Jan 1990 00:00:00 GMT",
		"Tue, 01 Jun 2038 00:00:00 GMT", "never", "",
	} {
		for _, target := range []string{"/timegate/urn:nbn:fi:book", "/timegate/urn:nbn:fi:gone", "/urn:nbn:fi:book"} {
			all = append(all, once(target+" at "+at, get(target, "Accept-Datetime: "+at)))
		}
	}
	for _, target := range []string{
		"/net/report", "/net/moved", "/net/all/x/y", "/net/gone", "/net/none", "/", "/robots.txt", "/urn:nbn:fi:book",
		"/net/report?x=y", "/net/report?preview", "/NET/report", "/net//report", "/net/../net/report",
		"/uri-res/N2L?urn:nbn:fi:book", "/favicon.ico",
	} {
		all = append(all, twice("purl.example"+target, request("GET "+target+" HTTP/1.1", "Host: purl.example")))
	}
	for _, target := range []string{
		"/01/09506000134352", "/01/09506000134352?linkType=gs1:pip", "/01/09506000134352?linkType=linkset",
		"/01/09506000134352?linkType=all", "/01/09506000134352?linkType=gs1:none", "/01/09506000134352/10/L1",
		"/01/9506000134352", "/01/09506000134353", "/01/09506000134352?x=y", "/01/x", "/", "/none",
		"/.well-known/gs1resolver",
		"/gtin/09506000134352",
	} {
		for _, accept := range []string{"", "text/html", "application/linkset+json", "application/json"} {
			fields := []string{"Host: id.example"}
			if accept != "" {
				fields = append(fields, "Accept: "+accept)
			}
			all = append(all, twice("id.example"+target+" "+accept, request("GET "+target+" HTTP/1.1", fields...)))
		}
	}
	return append(all, batches()...)
}

// batches are POST requests with many names.
func batches() []dialog {
	var all []dialog
	post := func(target, kind, body string, fields ...string) string {
		return request("POST "+target+" HTTP/1.1",
			append([]string{"Host: urnd.example", "Content-Type: " + kind, "Content-Length: " + itoa(len(body))},
				fields...)...) + body
	}
	for name, body := range map[string]string{
		"an array": `["urn:ietf:rfc:2648","urn:isbn:1","urn:nbn:fi:gone","x"]`, "an empty array": `[]`,
		"an object": `{"a":1}`, "no JSON": `[`, "numbers": `[1]`, "nothing": "",
		"a deep array": strings.Repeat("[", 100), "two arrays": `["urn:plain:a"]["urn:plain:b"]`,
		"a long name": `["urn:plain:` + strings.Repeat("a", 20_000) + `"]`,
	} {
		all = append(all, once("a batch of "+name, post("/api/v1/resolve", "application/json", body)))
		all = append(all, once("a batch of "+name+" with service",
			post("/api/v1/resolve?service=N2Ls", "application/json", body)))
	}
	sorted(all)
	lines := "urn:ietf:rfc:2648\nurn:nbn:fi:book\n\nurn:x\n"
	for _, kind := range []string{
		"text/plain", "text/plain; charset=utf-8", "text/uri-list", "application/xml",
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
	} {
		all = append(all, once("lines as "+kind, post("/api/v1/resolve", kind, lines)))
	}
	all = append(all, once("lines for text", post("/api/v1/resolve", "text/plain", lines, "Accept: text/plain")),
		once("lines for CSV", post("/api/v1/resolve", "text/plain", lines, "Accept: text/csv")),
		once("a form", post("/", "application/x-www-form-urlencoded", "uri=urn:plain:a")),
		once("too many names", post("/api/v1/resolve", "text/plain", strings.Repeat("urn:plain:a\n", 10_001))),
		once("a coded body", post("/api/v1/resolve", "text/plain", lines, "Content-Encoding: gzip")),
		once("a batch with a method in the query", post("/api/v1/resolve?uri=urn:plain:a", "text/plain", lines)))
	return all
}
