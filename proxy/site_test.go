package proxy_test

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// paths starts a gateway of www.example with a site for each of several paths, whose server echoes the request.
func paths(t *testing.T, change func(*proxy.Config)) *server {
	t.Helper()
	o := answering(t, func(request string) string {
		line, _, _ := strings.Cut(request, "\r\n")
		reported := fmt.Sprintf("%s host=%s set=%s auth=%s cookie=%s", line, field(request, "Host"),
			field(request, "X-Set"), field(request, "Authorization"), field(request, "Cookie"))
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nServer: inside\r\nX-Own: "+
			"1\r\nContent-Length: %d\r\n\r\n%s", len(reported), reported)
	})
	return site(t, []string{o.addr}, func(c *proxy.Config) {
		hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
		if err != nil {
			t.Fatal(err)
		}
		users, err := gate.ParseUsers(append([]byte("joe:"), hash...))
		if err != nil {
			t.Fatal(err)
		}
		moved, err := uri.ParseTemplate("https://{host}/new{+rest}{+query}")
		if err != nil {
			t.Fatal(err)
		}
		all := c.Sites[0].Site
		at := func(path string, change func(*proxy.Site)) {
			s := proxy.Site{
				Route: route.Site{Host: "www.example", Path: path, Spelling: route.SpellingExact},
				Site:  all,
			}
			change(&s)
			c.Sites = append(c.Sites, s)
		}
		at("/fields", func(s *proxy.Site) {
			s.Host = "inside.example"
			s.Request = forward.Edits{
				Remove: []string{"Cookie"},
				Set:    httpmessage.Fields{{Name: "X-Set", Value: "by urnd"}},
			}
			s.Response = forward.Edits{Remove: []string{"server"}, Set: httpmessage.Fields{{Name: "X-Own", Value: "2"}}}
		})
		at("/v1", func(s *proxy.Site) { s.Replace = "/v2" })
		at("/strip", func(s *proxy.Site) { s.Replace = "/" })
		at("/users", func(s *proxy.Site) {
			s.Access.Users, s.Request.Remove = users, []string{"Authorization"}
		})
		at("/clients", func(s *proxy.Site) { s.Access.Clients = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
		at("/old", func(s *proxy.Site) { s.FixedResponse = &proxy.FixedResponse{Status: 301, Location: &moved} })
		at("/down", func(s *proxy.Site) {
			s.FixedResponse = &proxy.FixedResponse{Status: 503, Type: "text/html", Body: []byte("<p>soon")}
		})
		at("/gone", func(s *proxy.Site) { s.FixedResponse = &proxy.FixedResponse{Status: 410} })
		if change != nil {
			change(c)
		}
	})
}

// Each path of a site has its servers, or a response of urnd itself.
func TestSitePaths(t *testing.T) {
	s := paths(t, nil)
	for _, tt := range []struct {
		target string
		fields []string
		status int
		want   string // the content, or Location
	}{
		{"/", nil, 200, "GET / HTTP/1.1 host=[www.example] set=[] auth=[] cookie=[]"},
		{
			"/fields/a",
			[]string{"X-Set: by a client", "Cookie: a=b"},
			200,
			"GET /fields/a HTTP/1.1 host=[inside.example] set=[by urnd] auth=[] cookie=[]",
		},
		{"/v1/a%2Fb?q", nil, 200, "GET /v2/a%2Fb?q HTTP/1.1"},
		{"/v1", nil, 200, "GET /v2 HTTP/1.1"},
		{"/v1/../v1/a", nil, 200, "GET /v2/a HTTP/1.1"},
		{"/v1/%2e%2e/v1/%2e/a", nil, 200, "GET /v2/a HTTP/1.1"},
		{"/v1/../../v1/../v1/a", nil, 200, "GET /v2/a HTTP/1.1"},
		{"/v1?q", nil, 200, "GET /v2?q HTTP/1.1"},
		{"//v1/a", nil, 200, "GET /v2/a HTTP/1.1"},
		{"/v1x", nil, 200, "GET /v1x HTTP/1.1"},
		{"/strip/a/b", nil, 200, "GET /a/b HTTP/1.1"},
		{"/strip", nil, 200, "GET / HTTP/1.1"},
		{"/users/a", nil, 401, "required"},
		{"/users/a", []string{"Authorization: Basic am9lOndyb25n"}, 401, "required"},
		{
			"/users/a",
			[]string{"Authorization: Basic am9lOnNlY3JldA=="},
			200,
			"GET /users/a HTTP/1.1 host=[www.example] set=[] auth=[] cookie=[]",
		},
		{"/users/a", nil, 401, "required"}, // although the response is stored now
		{"/x/../users/a", nil, 401, "required"},
		{"//users/a", nil, 401, "required"},
		{"/%75sers/a", nil, 401, "required"},
		{"/x/%2e%2e%2fusers/a", nil, 401, "required"},
		{"/x/%2e%2e%2fusers/a", []string{"Authorization: Basic am9lOnNlY3JldA=="}, 400, "different"},
		{"/users//../a", nil, 401, "required"},
		{"/users/..%2fa", nil, 400, "different"},
		{"/users/..;/a", nil, 401, "required"},
		{"/clients", nil, 403, "not allowed to access"},
		{"/old/a?b", nil, 301, "https://www.example/new/a?b"},
		{"/old", nil, 301, "https://www.example/new"},
		{"/old/%0d%0aX:%20y", nil, 301, "https://www.example/new/%0D%0AX:%20y"},
		{"/down/a", nil, 503, "<p>soon"},
		{"/gone", nil, 410, "410 Gone\n"},
	} {
		response := s.visit(t, "GET", tt.target, "www.example", tt.fields...)
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := string(body)
		if tt.status == 301 {
			got = response.Header.Get("Location")
		}
		if response.StatusCode != tt.status || tt.status == 301 && got != tt.want || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %d %s", tt.target, tt.fields, response.StatusCode, got)
		}
		if edited := response.Header.Get("X-Own") == "2" && response.Header.Get("Server") == ""; tt.status == 200 &&
			edited != strings.HasPrefix(tt.target, "/fields") {
			t.Errorf("%s: %v", tt.target, response.Header)
		}
		if policy := response.Header.Get("Content-Security-Policy"); tt.status == 503 &&
			(policy != "" || response.Header.Get("Retry-After") == "") {
			t.Errorf("%s: %v", tt.target, response.Header)
		}
	}
}

// A site restricted to some clients is not shown to others by /fetch, which uses the rights of the proxy.
func TestRestrictedSiteIsNotFetched(t *testing.T) {
	s := paths(t, func(c *proxy.Config) {
		c.Access.Proxy, c.Spelling = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, route.SpellingExact
	})
	for target, want := range map[string]int{
		"/fetch?uri=http://www.example/a":             200,
		"/fetch?uri=http://www.example/users/a":       403,
		"/fetch?uri=http://www.example/clients":       403,
		"/fetch?uri=http://www.example/x//../users/a": 400,
	} {
		if response := s.visit(t, "GET", target, "localhost", "Accept: text/html"); response.StatusCode != want {
			body, _ := io.ReadAll(response.Body)
			t.Errorf("%s: %d %s", target, response.StatusCode, body)
		}
	}
}

// A path that urnd answers itself has no server for /fetch.
func TestAnsweredPathIsNotFetched(t *testing.T) {
	s := paths(t, func(c *proxy.Config) {
		c.Access.Proxy, c.Spelling = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, route.SpellingExact
	})
	response := s.visit(t, "GET", "/fetch?uri=http://www.example/gone", "localhost", "Accept: text/html")
	if body, _ := io.ReadAll(response.Body); response.StatusCode != 403 {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// A fixed response replaces the stored responses of the servers of its path.
func TestAnswerReplacesStoredOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.warm(t, "/page", "www.example")
	w.config.Sites[0].FixedResponse = &proxy.FixedResponse{Status: 503}
	changed := proxy.New(w.config)
	if got, _ := proxytest.Record(changed, request("GET", "/page", "Host", "www.example")); got.Status != 503 {
		t.Errorf("%d %s", got.Status, got.Body.String())
	}
}

// TRACE returns the received request without the fields that urnd has added (RFC 9110 section 9.3.8).
func TestTraceShowsNoFieldsOfASite(t *testing.T) {
	s := paths(t, nil)
	for _, fields := range [][]string{{"Max-Forwards: 0"}, {"Max-Forwards: 3"}, nil} {
		response := s.visit(t, "TRACE", "/fields/a", "www.example", append(fields, "X-Set: by a client")...)
		if body, _ := io.ReadAll(response.Body); strings.Contains(string(body), "by urnd") || len(body) == 0 {
			t.Errorf("%v: %d %s", fields, response.StatusCode, body)
		}
	}
}
