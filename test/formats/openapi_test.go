package formats_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/test/urndtest"
)

func TestOpenAPIOfAdmin(t *testing.T) {
	ready := newAdminHandler(nil)
	unready := newAdminHandler(func(c *admin.Config) {
		c.Health = func() (unready, degraded []string) { return []string{"it stops"}, []string{"DNS"} }
	})
	locked := newAdminHandler(func(c *admin.Config) { c.Token = []byte("0123456789abcdef") })
	const here, there, page = "127.0.0.1:1", "192.0.2.1:1", "Accept: text/html"
	_, document := adminRequest(t, ready, here, "GET /openapi.json")
	d := urndtest.ParseOpenAPI(t, document)
	d.WellFormed(t)
	checkRegistry(t, d)
	d.Each(func(method, path string, _ map[string]any) {
		if ofRegistry(path) {
			return
		}
		request := strings.ToUpper(method) + " " + path + "?"
		for _, try := range []struct {
			h      http.Handler
			peer   string
			query  string
			fields []string
		}{
			{ready, here, "uri=urn:a1:b", nil},
			{ready, here, "all=true", nil},
			{ready, here, "uri=http://a.example/", nil},
			{ready, here, "uri=http://fails.example/&mode=refresh", nil},
			{ready, here, "", []string{page}},
			{ready, there, "", nil},
			{ready, there, "", []string{page}},
			{ready, here, "", []string{"Host: a.example"}},
			{ready, here, "", []string{"Sec-Fetch-Site: cross-site"}},
			{unready, here, "", nil},
			{locked, here, "", nil},
			{locked, here, "", []string{page}},
		} {
			response, body := adminRequest(t, try.h, try.peer, request+try.query, try.fields...)
			if err := d.Check(method, path, response, body); err != nil {
				t.Errorf("%s%s %q: %v", request, try.query, try.fields, err)
			}
		}
	})
	d.CheckAllSeen(t)
}

// checker sends a request "METHOD TARGET" with a body, and checks its response against the operation of a path.
type checker struct {
	*testing.T
	document *urndtest.OpenAPI
}

func (c checker) send(s *server, path, request, body string, fields ...string) {
	c.Helper()
	method, target, _ := strings.Cut(request, " ")
	version := "1.1"
	if slices.Contains(fields, "old") {
		version, fields = "1.0", nil
	}
	head := append([]string{
		fmt.Sprintf("%s %s HTTP/%s", method, target, version), "Host: a",
		fmt.Sprintf("Content-Length: %d", len(body)),
	}, fields...)
	response, got := s.query(c, strings.Join(head, "\r\n")+"\r\n\r\n"+body)
	if err := c.document.Check(method, path, response, got); err != nil {
		c.Errorf("%s %q: %v", request, fields, err)
	}
}

const browser = "Accept: text/html"

// changedOnce is the time of the only version of each URN.
type changedOnce time.Time

func (c changedOnce) Versions(_ context.Context, q resolver.Query) (resolver.Versions, error) {
	if !q.IsURN() {
		return resolver.Versions{}, &resolver.Negative{Kind: resolver.ErrNotFound}
	}
	return resolver.Versions{Name: q.URI, Times: []time.Time{time.Time(c)}, TTL: time.Minute}, nil
}

func TestOpenAPIOfTheService(t *testing.T) {
	s := start(t, func(c *proxy.Config) {
		c.SecurityContact, c.Names = "mailto:a@a.example", c.Names.WithOwnedPrefixes([]string{"urn:", "ark:/12345/"})
		c.Fetch, c.Forward.Accept = scheme.Mux{"ftp": shelf{}}, answer.ListingAccept
		c.Pages = pages.New(pages.Site{All: []pages.Namespace{{NID: "isbn"}}})
		c.Lists, c.Access.Browse = oneListed(), []netip.Prefix{loopback}
		c.History = changedOnce(time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC))
	})
	c := checker{t, urndtest.ParseOpenAPI(t, s.get(t, "/api/v1/openapi.json"))}
	c.document.WellFormed(t)
	for path, targets := range map[string]string{
		"/{uri}": "/urn:a1:b /URN:ISBN:0-395-36341-1 /http://a.example/?q /urn:a /file:///x " +
			"/urn:a1:b?s=I2C /urn:a1:b?s=I2Ls /urn:a1:" + strings.Repeat("a", maxTarget),
		"/": "/ /?uri=urn:a1:b /?uri=urn%3Aa1%3Ab /?uri=urn:a /?urn:a1:b " +
			"/?uri=urn:a1:b&service=I2Ls /?uri=urn:a1:b&service=none",
		"/uri-res/{service}": "/uri-res/N2L?urn:a1:b /uri-res/I2Ls?urn:a1:b /uri-res/N2C?urn:isbn:0395363411 " +
			"/uri-res/N2Ns?urn:isbn:0395363411 /uri-res/I=I?urn:a1:b%20urn:a1:c /uri-res/N2X?urn:a1:b /uri-res/N2L " +
			"/uri-res/I2N?urn:a1:b",
		"/fetch": "/fetch /fetch?uri=ftp://h.example/pub/ /fetch?uri=ftp://h.example/moved " +
			"/fetch?uri=ftp://h.example/refused/404 /fetch?uri=ftp://h.example/refused/401 " +
			"/fetch?uri=ftp://h.example/unreachable /fetch?uri=ftp://h.example/pub/%3F&search=a+b /fetch?uri=urn:a1:b",
		"/api/v1/resolve": "/api/v1/resolve?uri=urn:a1:b /api/v1/resolve?uri=urn:a1:b&service=I2Ls " +
			"/api/v1/resolve?uri=urn:a /api/v1/resolve",
		"/api/v1/explain":      "/api/v1/explain?uri=urn:a1:b /api/v1/explain?uri=urn:a /api/v1/explain",
		"/api/v1/openapi.json": "/api/v1/openapi.json", "/robots.txt": "/robots.txt", "/favicon.ico": "/favicon.ico",
		"/.well-known/security.txt": "/.well-known/security.txt",
		"/.well-known/api-catalog":  "/.well-known/api-catalog",
		"/timegate/{uri}": "/timegate/urn:a1:b /timegate/urn%3Aa1%3Ab /timegate/urn:a " +
			"/timegate/http://a.example/",
		"/timemap/{uri}":        "/timemap/urn:a1:b /timemap/urn:a",
		"/timemap/{page}/{uri}": "/timemap/1/urn:a1:b /timemap/2/urn:a1:b /timemap/0/urn:a1:b",
		"/memento/{datetime}/{uri}": "/memento/20310501120000/urn:a1:b /memento/20310501120001/urn:a1:b " +
			"/memento/2031/urn:a1:b",
		"/.well-known/ark":    "/.well-known/ark",
		"/namespaces":         "/namespaces /namespaces?q=84&lang=de",
		"/namespaces/{nid}":   "/namespaces/isbn /namespaces/none1",
		"/opensearch.xml":     "/opensearch.xml",
		"/docs":               "/docs /docs?lang=de",
		"/docs/{group}":       "/docs/names /docs/none",
		"/names":              "/names /names?q=a&lang=de /names?status=x /names?after=bad",
		"/sitemap.xml":        "/sitemap.xml",
		"/sitemap-{file}.xml": "/sitemap-~.xml /sitemap-bad.xml",
	} {
		for target := range strings.FieldsSeq(targets) {
			if path == "/{uri}" {
				c.send(s, path, "OPTIONS "+target, "")
			}
			for _, accept := range []string{
				"X: y", browser, "Accept: application/json", "Accept: text/plain", "Accept: text/csv",
				"Accept: application/linkset+json", "Accept: application/linkset", "Accept: text/turtle",
				"Accept: application/vnd.urnd.trace+json", "If-None-Match: *", "old",
			} {
				c.send(s, path, "GET "+target, "", accept)
			}
			c.send(s, path, "GET "+target, "", "Via: 1.1 urnd, 1.1 urnd", "Via: 1.1 urnd, 1.1 urnd") // a loop
		}
	}
	for _, body := range []string{
		`["urn:a1:b", "urn:a", "javascript:alert(1)", ""]`, `"urn:a1:b"` + "\n" + `"urn:a1:c"`, `{}`, `[1]`,
		`[` + strings.Repeat(`"",`, 10_001) + `""]`,
	} {
		c.send(s, "/api/v1/resolve", "POST /api/v1/resolve", body)
	}
	c.handles()
	c.document.CheckAllSeen(t)
	c.failures(s)
}

// failures checks error responses against the document.
func (c checker) failures(s *server) {
	paths := map[string]string{
		"/{uri}": "/urn:a1:b", "/": "/?uri=urn:a1:b", "/uri-res/{service}": "/uri-res/N2L?urn:a1:b",
		"/api/v1/resolve": "/api/v1/resolve?uri=urn:a1:b", "/api/v1/explain": "/api/v1/explain?uri=urn:a1:b",
	}
	for _, err := range []error{
		&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "tried all"},
		&resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Cache: resolver.CacheHit},
		&resolver.Negative{Kind: resolver.ErrService}, resolver.ErrUnreachable, resolver.ErrForbidden, resolver.ErrBusy,
		context.DeadlineExceeded,
		errors.New("a bug"),
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, err }
		for path, target := range paths {
			c.send(s, path, "GET "+target, "")
			c.send(s, path, "GET "+target, "", browser)
		}
		c.send(s, "/uri-res/{service}", "GET /uri-res/N2R?urn:a1:b", "")
		c.send(s, "/api/v1/resolve", "POST /api/v1/resolve", `["urn:a1:b"]`)
	}
	rated := start(c, func(c *proxy.Config) { c.Access.Rate, c.Now = 1, func() time.Time { return time.Unix(2e9, 0) } })
	rated.get(c, "/")
	closed := start(c, func(c *proxy.Config) { c.Access.Resolve, c.Access.Proxy = nil, nil })
	busy := start(c, func(c *proxy.Config) { c.Forward.Fetches = quota.Limit{Semaphore: make(quota.Semaphore)} })
	guarded := start(c, func(c *proxy.Config) { c.Access.Users = new(gate.Users) })
	for _, s := range []*server{rated, closed, busy, guarded} {
		for path, target := range paths {
			c.send(s, path, "GET "+target, "")
		}
		c.send(s, "/api/v1/openapi.json", "GET /api/v1/openapi.json", "")
		c.send(s, "/api/v1/resolve", "POST /api/v1/resolve", "[]")
		c.send(s, "/uri-res/{service}", "GET /uri-res/I2R?urn:a1:b", "")
		c.send(s, "/{uri}", "GET /http://a.example/", "")
		c.send(s, "/", "GET /?uri=http://a.example/", "")
		c.send(s, "/api/v1/resolve", "GET /api/v1/resolve?uri=http://a.example/", "")
	}
}

// TestOpenAPIOfResources checks that a fetched resource has the media type of its origin, and that several are
// a multipart.
func TestOpenAPIOfResources(t *testing.T) {
	s := start(t, nil)
	c := checker{t, urndtest.ParseOpenAPI(t, s.get(t, "/api/v1/openapi.json"))}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/"+r.URL.Path[1:])
	}))
	defer web.Close()
	s.next = withLocations(web.URL+"/gif", web.URL+"/jpeg")
	for _, service := range []string{"N2R", "N2Rs"} {
		for _, accept := range []string{"X: y", "Accept: image/gif", "Accept: image/*"} {
			c.send(s, "/uri-res/{service}", "GET /uri-res/"+service+"?urn:a1:b", "", accept)
		}
	}
}

// TestOpenAPIOfLinks checks that the document of an answer contains the relations of locations to their name,
// and the other links of the name, as declared.
func TestOpenAPIOfLinks(t *testing.T) {
	s := start(t, nil)
	c := checker{t, urndtest.ParseOpenAPI(t, s.get(t, "/api/v1/openapi.json"))}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{Locations: []resolver.Location{{URI: "https://a.example/", From: &resolver.Source{
			Name: "namespace a1", Type: "text/html", Language: "de",
			Relation: &resolver.Relation{Rel: "item", Title: "A <book>", Context: "DE", OtherLinks: []resolver.Link{
				{
					URI: "https://a.example/rdf", Rel: "describedby", Title: "RDF", Type: "application/rdf+xml",
					Language: "de", Context: "AT",
					Anchor: "urn:a1:whole",
				},
				{URI: "https://cc.example/", Rel: "license"},
			}},
		}}}, TTL: time.Hour}, nil
	}
	for _, accept := range []string{"Accept: application/json", browser} {
		c.send(s, "/api/v1/resolve", "GET /api/v1/resolve?uri=urn:a1:b", "", accept)
		c.send(s, "/uri-res/{service}", "GET /uri-res/I2Ls?urn:a1:b", "", accept)
	}
	c.send(s, "/api/v1/resolve", "POST /api/v1/resolve", `["urn:a1:b"]`)
	var document api.Answer
	if err := json.Unmarshal(s.get(t, "/api/v1/resolve?uri=urn:a1:b"), &document); err != nil {
		t.Fatal(err)
	}
	first := document.Locations[0]
	if first.Rel != "item" || first.Title != "A <book>" || first.Context != "DE" || len(document.Links) != 2 ||
		document.Links[0] != (api.Link{
			URI: "https://a.example/rdf", Rel: "describedby", Title: "RDF", Type: "application/rdf+xml", Language: "de",
			Context: "AT", Anchor: "urn:a1:whole",
		}) {
		t.Errorf("%+v", document)
	}
}

// handles checks the responses about handles against the document.
func (c checker) handles() {
	s := start(c, withHandles)
	for _, handle := range []string{
		"b", "b?type=URL&index=203&pretty", "plain", "alias", "reserved", "unknown", "gone",
		"down", "%FF", "b?type=%",
	} {
		c.send(s, "/api/handles/{handle}", "GET /api/handles/20.500.1/"+handle, "")
		c.send(s, "/api/handles/{handle}", "GET /api/handles/20.500.1/"+handle, "", browser)
	}
}
