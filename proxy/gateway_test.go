package proxy_test

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// site starts a gateway of www.example with servers at the given addresses.
func site(t *testing.T, addrs []string, change func(*proxy.Config)) *server {
	t.Helper()
	return start(t, withSite(t, addrs, change))
}

func withSite(t *testing.T, addrs []string, change func(*proxy.Config)) func(*proxy.Config) {
	t.Helper()
	var urls []string
	for _, addr := range addrs {
		urls = append(urls, "http://"+addr)
	}
	return func(c *proxy.Config) {
		withCache(t, c)
		c.Failures = forward.NewFailures(time.Now)
		c.Sites = []proxy.Site{siteAt(t, c.Failures, urls...)}
		c.Access.Proxy = nil
		if change != nil {
			change(c)
		}
	}
}

func (s *server) visit(t testing.TB, method, target, host string, fields ...string) *http.Response {
	t.Helper()
	return s.ask(t, method+" "+target+" HTTP/1.1\r\nHost: "+host+"\r\n"+strings.Join(append(fields, ""), "\r\n")+
		"\r\n")[0]
}

// A gateway answers for its sites, and forwards their host to their servers (RFC 9110 section 3.7).
func TestGateway(t *testing.T) {
	o := answering(t, func(request string) string {
		line, _, _ := strings.Cut(request, "\r\n")
		reported := fmt.Sprintf("%s %s", line, field(request, "Host"))
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: %d\r\n\r\n%s",
			len(reported), reported)
	})
	s := site(t, []string{o.addr}, nil)
	for _, tt := range []struct{ target, host, want string }{
		{"/", "www.example", "GET / HTTP/1.1 [www.example]"},
		{"/a/../%7eb?q", "WWW.Example", "GET /~b?q HTTP/1.1 [www.example]"},
		{"/", "www.example:8080", "GET / HTTP/1.1 [www.example:8080]"},
		{"/", "www.example.", "GET / HTTP/1.1 [www.example]"},
		{"/urn:ietf:rfc:2648", "www.example", "GET /urn:ietf:rfc:2648 HTTP/1.1 [www.example]"},
		{"/proxy.pac", "www.example", "GET /proxy.pac HTTP/1.1 [www.example]"},
		{"//a//b", "www.example", "GET //a//b HTTP/1.1 [www.example]"},
		{"http://www.example/a", "elsewhere", "GET /a HTTP/1.1 [www.example]"}, // RFC 9112 section 3.2.2
		{"HTTP://www.example/a", "www.example", "GET /a HTTP/1.1 [www.example]"},
		{"https://www.example/a", "www.example", "GET /a HTTP/1.1 [www.example]"},
	} {
		response := s.visit(t, "GET", tt.target, tt.host)
		if got := text(t, response); response.StatusCode != 200 || got != tt.want ||
			response.Header.Get("Via") != "1.1 urnd" {
			t.Errorf("%s of %s: %d %s", tt.target, tt.host, response.StatusCode, got)
		}
	}
	before := len(o.requests())
	for _, tt := range []struct {
		target, host string
		status       int
	}{
		{"/", "other.example", 403}, // a page of another site, on this machine
		{"http://other.example/", "www.example", 403},
		{"/", "a.www.example", 403},
		{"/", "www.example.evil", 403},
		{"/", "user@www.example", 400},
		{"/urn:ietf:rfc:2648", "a", 302},
	} {
		if got := s.visit(t, "GET", tt.target, tt.host).StatusCode; got != tt.status {
			t.Errorf("%s of %s: %d", tt.target, tt.host, got)
		}
	}
	if got := s.visit(t, "CONNECT", "www.example:443", "www.example:443").StatusCode; got != 403 {
		t.Errorf("CONNECT: %d", got)
	}
	if got := len(o.requests()); got != before {
		t.Errorf("the server was asked: %q", o.requests()[before:])
	}
}

// Clients of the proxy get the resources of a site from its servers in each form of request, so that
// responses stored for its visitors always come from these.
func TestResourcesOfSites(t *testing.T) {
	o := answering(t, func(request string) string {
		line, _, _ := strings.Cut(request, "\r\n")
		reported := fmt.Sprint(line, field(request, "Host"), field(request, "X-Forwarded-Proto"))
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: %d\r\n\r\n%s",
			len(reported),
			reported)
	})
	s := site(t, []string{o.addr}, func(c *proxy.Config) {
		c.Access.Proxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for _, tt := range []struct{ target, host, visited string }{
		{"/fetch?uri=http://www.example/fetched", "127.0.0.1", "/fetched"},
		{"/fetch?uri=http://WWW.example:80/%2566etched%3f", "127.0.0.1", "/fetched?"},
		{"http://www.example/absolute", "www.example", "/absolute"},
	} {
		want := "GET " + tt.visited + " HTTP/1.1[www.example] [http]"
		response := s.visit(t, "GET", tt.target, tt.host)
		if got := text(t, response); response.StatusCode != 200 || got != want {
			t.Errorf("%s: %d %s", tt.target, response.StatusCode, got)
		}
		if got := text(t, s.visit(t, "GET", tt.visited, "www.example")); got != want {
			t.Errorf("%s for a visitor: %s", tt.visited, got)
		}
	}
	if got := len(o.requests()); got != 3 {
		t.Errorf("%d requests, not one for each", got)
	}
}

// A request of one client does not make a server of a site unavailable for others.
func TestOneClientTakesNoServer(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n"
	reset := answering(t, func(request string) string {
		if strings.HasPrefix(request, "GET /attack") {
			return "HTTP/1.1 " // and the connection closes
		}
		return answer
	})
	s := site(t, []string{reset.addr, always(t, answer).addr}, nil)
	for i := range 20 {
		s.visit(t, "GET", fmt.Sprintf("/attack?%d", i), "www.example")
	}
	before := len(reset.requests())
	for range 10 {
		if got := s.visit(t, "GET", "/", "www.example").StatusCode; got != 200 {
			t.Errorf("a request of another: %d", got)
		}
	}
	if got := len(reset.requests()) - before; got != 5 {
		t.Errorf("the server that was attacked answered %d of 10", got)
	}
}

// Requests are distributed over the servers, and failing ones are avoided. A server that refuses connections
// is invisible to clients.
func TestGatewayServers(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n"
	a, b := always(t, answer), always(t, answer)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	s := site(t, []string{a.addr, closed.Addr().String(), b.addr}, nil)
	failed := 0
	for range 30 {
		if s.visit(t, "GET", "/", "www.example").StatusCode == 502 {
			failed++
		}
	}
	if first, second := len(a.requests()), len(b.requests()); failed != 0 || first < 9 || second < 9 {
		t.Errorf("%d failed, %d and %d answered", failed, first, second)
	}
	const switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
	s = site(t, []string{closed.Addr().String(), always(t, switched).addr, closed.Addr().String()}, nil)
	for range 2 {
		if response := s.visit(t, "GET", "/", "www.example", "Connection: Upgrade",
			"Upgrade: echo"); response.StatusCode != 101 {
			t.Errorf("a change of protocol: %d", response.StatusCode)
		}
	}
	s = site(t, []string{closed.Addr().String()}, nil)
	for range 2 { // there is no other server
		if response := s.visit(t, "GET", "/", "www.example"); response.StatusCode != 502 ||
			!strings.Contains(response.Header.Get("Proxy-Status"),
				"error=connection_refused") {
			t.Errorf("%d %v", response.StatusCode, response.Header)
		}
	}
}

// Targeted cache-control fields apply to the gateway only (RFC 9213).
func TestGatewayTargeted(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nCDN-Cache-Control: max-age=60\r\nContent-Length: " +
		"0\r\n\r\n"
	o := always(t, answer)
	s := site(t, []string{o.addr}, func(c *proxy.Config) { c.Access.Proxy = []netip.Prefix{loopback} })
	var states []string
	for range 3 {
		states = append(states, s.visit(t, "GET", "/", "www.example").Header.Get("Cache-Status"),
			s.get(t, "http://"+o.addr+"/").Header.Get("Cache-Status"))
	}
	if got := len(o.requests()); got != 1+3 {
		t.Errorf("%d requests: %q", got, states)
	}
}

// With TLS the site is another origin than without (RFC 9110 section 4.2.2).
func TestGatewayByTLS(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
	s := startOn(t, certificate(t), withSite(t, []string{o.addr}, nil))
	states := make([]string, 0, 3)
	ask := func(target string) {
		response, body := s.ask2(t, "GET", target, nil, nil)
		if response.StatusCode != 200 || body != "ok" {
			t.Errorf("%s: %d %q", target, response.StatusCode, body)
		}
		state, _, _ := strings.Cut(response.Header.Get("Cache-Status"), "; ttl")
		states = append(states, state)
	}
	ask("https://www.example/a")
	ask("https://www.example/a")
	ask("https://www.example:443/a")
	if got := strings.Join(states, ", "); got != "urnd; fwd=uri-miss; stored, urnd; hit, urnd; hit" {
		t.Errorf("%s", got)
	}
}

// A client with the right to purge may purge a response of a site, which is then validated.
func TestGatewayPurge(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\nok")
	s := site(t, []string{o.addr}, func(c *proxy.Config) { c.Access.Purge = []netip.Prefix{loopback} })
	if got := s.visit(t, "PURGE", "/a", "www.example").StatusCode; got != http.StatusNotFound {
		t.Errorf("nothing is stored: %d", got)
	}
	for i, requests := range []int{1, 1} {
		s.visit(t, "GET", "/a", "www.example")
		if got := len(o.requests()); got != requests {
			t.Errorf("%d: %d requests", i, got)
		}
	}
	response := s.visit(t, "PURGE", "/%61", "www.example")
	if body := text(t, response); response.StatusCode != 200 || !strings.Contains(body, `"purged": 1`) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if s.visit(t, "GET", "/a", "www.example"); len(o.requests()) != 2 {
		t.Errorf("%d requests", len(o.requests()))
	}
	for name, fields := range map[string]string{
		"relayed":   "X-Forwarded-For: 192.0.2.1",
		"forwarded": "Forwarded: for=192.0.2.1",
	} {
		if got := s.visit(t, "PURGE", "/a", "www.example", fields).StatusCode; got != 403 {
			t.Errorf("%s: %d", name, got)
		}
	}
	s = site(t, []string{o.addr}, nil)
	if got := s.visit(t, "PURGE", "/a", "www.example").StatusCode; got != 403 {
		t.Errorf("an unauthorized client: %d", got)
	}
}

// The configured clients, policy rules and destinations apply to a gateway, too.
func TestGatewayAccess(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	s := site(t, []string{o.addr},
		func(c *proxy.Config) { c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	if got := s.visit(t, "GET", "/", "www.example").StatusCode; got != 403 {
		t.Errorf("a client that may not resolve: %d", got)
	}
	rules, err := policy.New(policy.ModeEnforce,
		[]policy.Rule{{ID: "no-site", Deny: true, Hosts: []string{"www.example"}}})
	if err != nil {
		t.Fatal(err)
	}
	s = site(t, []string{o.addr}, func(c *proxy.Config) { c.Policy = rules })
	if got := s.visit(t, "GET", "/", "www.example"); got.StatusCode != 403 ||
		!strings.Contains(got.Header.Get("Proxy-Status"), "no-site") {
		t.Errorf("by a rule: %d %v", got.StatusCode, got.Header)
	}
	fetch := schemehttp.New(schemehttp.Config{
		Dial: netguard.New(time.Second).DialContext, HeaderTimeout: time.Second,
		Now: time.Now,
	})
	t.Cleanup(fetch.Close)
	s = site(t, []string{o.addr}, func(c *proxy.Config) { c.Fetch = scheme.Mux{"http": fetch} })
	if got := s.visit(t, "GET", "/", "www.example"); got.StatusCode != 403 ||
		!strings.Contains(got.Header.Get("Proxy-Status"), "destination_ip_prohibited") {
		t.Errorf("by the guard: %d %v", got.StatusCode, got.Header)
	}
	if len(o.requests()) > 0 {
		t.Errorf("the server was asked: %q", o.requests())
	}
}
