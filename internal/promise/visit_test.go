package promise

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// request is a request to urnd with its response.
type request struct {
	at       string // service, admin, proxy or tls
	method   string
	target   string
	fields   []string // "Name: value"
	body     string
	status   int
	header   http.Header
	response string
}

// registered is the content of the registry of the test.
const registered = `name,prefix,status,reason,successors,alias,target,type,language,priority,target_note,rel,title,context,metadata,contact
urn:promise:,true,active,,,,,,,,,,,,,Example
ark:/12345/,true,active,,,,,,,,,,,,,Example
urn:promise:a1,,active,,,,https://promise.example/a1,text/html,en,1,a note,,One,,"{""title"":""A1"",""creator"":""Somebody""}",mailto:a@example.org
urn:promise:a1,,,,,,https://promise.example/a1.pdf,application/pdf,de,2,,,,,,
urn:promise:a1,,,,,,https://promise.example/a1.rdf,text/turtle,,3,,describedby,,,,
urn:promise:Upper,,active,,,,https://promise.example/upper,,,,,,,,,
urn:promise:a2,,reserved,,,,,,,,,,,,,
urn:promise:a3,,withdrawn,replaced,urn:promise:a1,,,,,,,,,,"{""title"":""A3""}",
urn:promise:a4,,,,,urn:promise:a1,,,,,,,,,,
ark:/12345/b1,,active,,,,https://promise.example/b1,,,,,,,,"{""title"":""B1""}",
https://purl.example/c1,,active,,,,https://promise.example/c1,,,,,,,,,
https://id.example/01/09506000134352,,active,,,,https://promise.example/d1,text/html,en,,,gs1:pip,Product,,,
`

// service lists requests to the service listener, one per line: method, target and fields, separated by " | ".
const service = `
GET /
GET / | Accept: text/html
POST /
GET /?uri=urn:promise:a1
GET /urn:promise:a1
HEAD /urn:promise:a1
OPTIONS /urn:promise:a1 | Origin: https://a.example | Access-Control-Request-Method: GET
PUT /urn:promise:a1
GET /urn:promise:a1 | Origin: https://a.example
GET /urn:promise:a1 | Accept: application/linkset+json
GET /urn:promise:a1 | Accept: application/linkset
GET /urn:promise:a1 | Accept: application/x-unknown
GET /urn:promise:a1 | Accept-Datetime: Thu, 01 May 2031 12:00:00 GMT
GET /urn:promise:a1 | Accept-Datetime: never
GET /urn:promise:a1 | Cache-Control: no-cache
GET /urn:promise:a2
GET /urn:promise:a2 | Accept: text/html
GET /urn:promise:a3
GET /urn:promise:a3 | Accept: text/html
GET /urn:promise:a4
GET /urn:promise:none
GET /urn:promise:none | Accept: text/html
GET /urn:example:a
GET /urn:dns:a
GET /urn:thttp:a
GET /urn:unknown-nid:a
GET /urn:a
GET /urn:promise:%zz
GET /nothing
GET /nothing | Accept: text/html
GET /uri-res/N2L?urn:promise:a1
GET /uri-res/N2Ls?urn:promise:a1
GET /uri-res/N2Ls?urn:promise:a1 | Accept: text/html
GET /uri-res/N2R?urn:example:a
GET /uri-res/N2Rs?urn:example:a
GET /uri-res/N2N?urn:promise:a1
GET /uri-res/N2Ns?urn:promise:a1
GET /uri-res/N2C?urn:promise:a1
GET /uri-res/N2C?urn:promise:a1 | Accept: text/html
GET /uri-res/N2C.html?urn:promise:a1
GET /uri-res/N2C.json?urn:promise:a1
GET /uri-res/N2C.jsonld?urn:promise:a1
GET /uri-res/N2C?urn:promise:a1 | Accept: application/vnd.citationstyles.csl+json
GET /uri-res/N2C?urn:promise:a1 | Accept: application/x-bibtex
GET /uri-res/N2C?urn:promise:a1 | Accept: text/turtle
GET /uri-res/N2C.ttl?urn:promise:a1
GET /uri-res/N2C.csv?urn:promise:a1
GET /uri-res/N2C.bib?urn:promise:a1
GET /uri-res/N2C.ris?urn:promise:a1
GET /uri-res/N2C.xml?urn:promise:a1
GET /uri-res/N2C.qr?urn:promise:a1
GET /uri-res/N2Cs?urn:promise:a1
GET /uri-res/I=I?urn:promise:a1%20urn:PROMISE:a1
GET /uri-res/L2L?http://promise.example/
GET /uri-res/L2Ns?http://promise.example/
GET /uri-res/N2X?urn:promise:a1
GET /api/v1/resolve?uri=urn:promise:a1
GET /api/v1/resolve?uri=urn:promise:a1&trace=true
GET /api/v1/resolve?uri=urn:promise:a3
GET /api/v1/resolve?uri=urn:promise:none
GET /api/v1/resolve?uri=urn:promise:%25zz
GET /api/v1/resolve
POST /api/v1/resolve | Content-Type: application/json | > ["urn:promise:a1","urn:promise:none"]
POST /api/v1/resolve | Content-Type: application/x-ndjson | > "urn:promise:a1"
POST /api/v1/resolve | Content-Type: application/json | > nothing
GET /api/v1/explain?uri=urn:dns:a
GET /api/v1/explain?uri=urn:dns:a | Accept: text/html
GET /api/v1/openapi.json
GET /api/v1/other
GET /api/handles/20.500.12345/a1
GET /api/handles/20.500.12345/none
GET /ark:/12345/b1
GET /ark:12345/b1
GET /ark:/12345/b1?
GET /ark:/12345/b1??
GET /ark:/12345/b1?info
GET /ark:/12345/
GET /doi:10.1000/182
GET /http://promise.example/
GET /ftp://promise.example/
GET /ftp://promise.example/ | Accept: text/html
GET /file://FILES/a.txt
GET /c1 | Host: purl.example
GET /none | Host: purl.example
GET /01/09506000134352 | Host: id.example
GET /01/09506000134352?linkType=all | Host: id.example
GET /01/09506000134352?linkType=linkset | Host: id.example
GET /01/09506000134352 | Host: id.example | Accept: application/linkset+json
GET /.well-known/gs1resolver | Host: id.example
GET /.well-known/linkset-context.jsonld | Host: id.example
GET /.well-known/ark
GET /.well-known/api-catalog
GET /.well-known/security.txt
GET /.well-known/other
GET /robots.txt
GET /favicon.ico
GET /sitemap.xml
GET /opensearch.xml
GET /copy.js
GET /logo.svg
GET /logo.png
GET /proxy.pac
GET /wpad.dat
GET /docs
GET /docs | Accept: text/html
GET /namespaces
GET /namespaces/isbn
GET /namespaces/none
GET /names
GET /names?prefix=urn:promise:
GET /names?q=one
GET /fetch
GET /fetch?uri=http://promise.example/
GET /fetch?uri=file://FILES/a.txt
GET /timegate/urn:promise:a1
GET /timemap/urn:promise:a1
GET /timemap/link/urn:promise:a1
GET /timemap/json/urn:promise:a1
GET /memento/20310501100000/urn:promise:a1
GET / | Host: site.example
GET / | Host: evil.example
PURGE /urn:promise:a1
TRACE /
BREW /
`

// proxied lists requests to the forward proxy.
const proxied = `
GET ORIGIN/a
GET ORIGIN/a
HEAD ORIGIN/a
PURGE ORIGIN/a
GET ORIGIN/b | Cache-Control: only-if-cached
GET ORIGIN/c
GET ORIGIN/a | Range: bytes=2-3
GET http://denied.example/
GET http://none.promise.example/
GET ftp://none.promise.example/
GET file://FILES/
GET file://FILES/a.txt
GET file:///none
GET foo://promise.example/
GET urn:promise:a1
`

// administrative lists requests to the admin interface. TOKEN is a token of the registry.
const administrative = `
GET /
GET /nothing
GET /healthz
GET /readyz
GET /status
GET /status.js
GET /config
GET /caches
GET /docs
GET /login
GET /openapi.json
GET /debug/pprof/
GET /debug/pprof/cmdline
GET /debug/pprof/symbol
GET /debug/pprof/heap
GET /api/v1/cache
GET /api/v1/cache/entries?uri=urn:promise:a1
GET /api/v1/cache/entries
DELETE /api/v1/cache/entries?uri=urn:promise:a1
GET /api/v1/responses?uri=ORIGIN/a
GET /api/v1/responses/why?uri=ORIGIN/a
DELETE /api/v1/responses?uri=ORIGIN/a
GET /api/v1/config
GET /api/v1/names
GET /registry/names
GET /api/v1/names | TOKEN
GET /api/v1/names?uri=urn:promise:a1 | TOKEN
GET /api/v1/names?uri=urn:promise:a1&at=never | TOKEN
GET /api/v1/names?uri=urn:promise:none | TOKEN
GET /api/v1/names/history?uri=urn:promise:a1 | TOKEN
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | > {"targets":[{"uri":"https://promise.example/e1"}]}
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | > {"targets":[{"uri":"https://promise.example/e2"}]}
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | If-Match: "1" | > {"targets":[{"uri":"https://promise.example/e2"}]}
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | If-Match: "1" | > {"targets":[{"uri":"https://promise.example/e3"}]}
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: text/plain | > x
PUT /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | > x
PATCH /api/v1/names?uri=urn:promise:e1 | TOKEN | Content-Type: application/merge-patch+json | If-Match: "2" | > {"contact":"Example"}
POST /api/v1/names/withdraw?uri=urn:promise:e1 | TOKEN | Content-Type: application/json | > {"note":"a test"}
DELETE /api/v1/names?uri=urn:promise:e1 | TOKEN
POST /api/v1/names/mint | TOKEN | Content-Type: application/json | > {"pattern":"urn:promise:m{counter}"}
GET /api/v1/names/export?format=csv | TOKEN
GET /api/v1/names/export?format=ndjson | TOKEN
GET /api/v1/prefixes | TOKEN
GET /api/v1/prefixes?uri=urn:promise: | TOKEN
GET /api/v1/prefixes/history?uri=urn:promise: | TOKEN
GET /api/v1/prefixes/export | TOKEN
DELETE /api/v1/sandboxes?uri=urn:promise: | TOKEN
GET /api/v1/jobs | TOKEN
POST /api/v1/jobs | TOKEN | Content-Type: text/csv | Idempotency-Key: a | > name,target
GET /api/v1/jobs/none | TOKEN
GET /api/v1/registry/changes | TOKEN
GET /api/v1/registry/changes/1 | TOKEN
GET /api/v1/registry/versions | TOKEN
GET /api/v1/registry/versions?limit=1 | TOKEN
GET /api/v1/statistics | TOKEN
GET /api/v1/statistics?uri=urn:promise:a1 | TOKEN
GET /api/v1/health | TOKEN
GET /api/v1/tokens | TOKEN
POST /api/v1/tokens | TOKEN | Content-Type: application/json | > {"name":"b","role":"reader"}
GET /api/v1/names | Authorization: Bearer wrong
GET /registry/names | TOKEN
GET /registry/name?uri=urn:promise:a1 | TOKEN
GET /registry/edit?uri=urn:promise:a1 | TOKEN
GET /registry/history?uri=urn:promise:a1 | TOKEN
GET /registry/withdraw?uri=urn:promise:a1 | TOKEN
GET /registry/prefixes | TOKEN
GET /registry/changes | TOKEN
GET /registry/tokens | TOKEN
GET /registry/import | TOKEN
GET /registry/jobs | TOKEN
GET /registry/jobs.js | TOKEN
GET /registry/statistics | TOKEN
GET /registry/targets | TOKEN
GET /registry/targets/move | TOKEN
GET / | Host: evil.example
GET /metrics | X-Forwarded-For: 192.0.2.1
POST /healthz
`

// visit sends all requests to the daemon.
func (p *program) visit(t *testing.T, token string) (all []request) {
	t.Helper()
	d := p.daemon
	fill := strings.NewReplacer("DIR", d.directory, "FILES", files(t), "ORIGIN", p.origin.url, "TOKEN",
		"Authorization: Bearer "+token)
	proxy, err := url.Parse(d.service)
	if err != nil {
		t.Fatal(err)
	}
	direct := &http.Transport{DisableCompression: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	through := &http.Transport{DisableCompression: true, Proxy: http.ProxyURL(proxy)}
	defer direct.CloseIdleConnections()
	defer through.CloseIdleConnections()
	for _, list := range []struct {
		at, base, lines string
		by              *http.Transport
	}{
		{"service", d.service, service, direct},
		{"tls", d.tls, "GET /\nGET /urn:promise:a1", direct},
		{"proxy", "", proxied, through},
		{"admin", d.admin, administrative, direct},
	} {
		for line := range strings.Lines(strings.TrimSpace(list.lines)) {
			r := newRequest(list.at, strings.TrimSpace(line))
			r.send(t, list.by, list.base, d.service, fill)
			all = append(all, r)
		}
	}
	return all
}

// newRequest reads a line of a list of requests.
func newRequest(at, line string) request {
	r := request{at: at}
	line, r.body, _ = strings.Cut(line, " | > ")
	parts := strings.Split(line, " | ")
	r.method, r.target, _ = strings.Cut(parts[0], " ")
	r.fields = parts[1:]
	return r
}

// send sends a request and reads its response. The target is sent unchanged, even if net/url would normalize
// it.
func (r *request) send(t *testing.T, by *http.Transport, base, service string, fill *strings.Replacer) {
	t.Helper()
	target := fill.Replace(r.target)
	opaque := target
	if base == "" && !strings.HasPrefix(target, "http:") { // net/http cannot send other URLs to a proxy
		base = service
		by = &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	}
	var sent *http.Request
	var err error
	if base == "" {
		sent, err = http.NewRequestWithContext(t.Context(), r.method, target, strings.NewReader(r.body))
	} else {
		sent, err = http.NewRequestWithContext(t.Context(), r.method, base, strings.NewReader(r.body))
		if err == nil {
			sent.URL.Opaque = opaque
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range r.fields {
		name, value, _ := strings.Cut(fill.Replace(field), ": ")
		if name == "Host" {
			sent.Host = value
		} else {
			sent.Header.Set(name, value)
		}
	}
	got, err := by.RoundTrip(sent)
	if err != nil {
		t.Errorf("%s %s at %s: %v", r.method, r.target, r.at, err)
		return
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Errorf("%s %s at %s: %v", r.method, r.target, r.at, err)
	}
	r.status, r.header, r.response = got.StatusCode, got.Header, string(body)
}

// register fills the registry of a directory and returns a token for it.
func (p *program) register(t *testing.T, directory, config string) string {
	t.Helper()
	names, file := filepath.Join(directory, "names.csv"), filepath.Join(directory, "urnd.yaml")
	write(t, names, registered)
	write(t, file, config)
	p.must(t, "registry", "import", "--config", file, names)
	create := []string{"registry", "token", "create", "--config", file, "--name", "promise", "--role", "admin"}
	return strings.TrimSpace(p.must(t, create...))
}
