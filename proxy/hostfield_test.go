package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
)

// hostSpelling is one spelling of a server: the request-target, and the Host.
type hostSpelling struct{ target, host string }

// The server of a site gets the normalized Host, however the client spells it (RFC 3986 section 6.2.3, RFC
// 9110 section 7.2). All spellings are in heads.txt of package route. Otherwise a stored redirect that the
// server builds from Host would send all clients to a spelling chosen by one of them.
func TestHostOfSites(t *testing.T) {
	o := answering(t, func(request string) string {
		return "HTTP/1.1 301 Moved Permanently\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\nLocation: http://" +
			strings.Join(field(request,
				"Host"), " and ") + "/to\r\n\r\n"
	})
	for _, spelling := range []route.Spelling{route.SpellingNormal, route.SpellingExact} {
		for i, tt := range []hostSpelling{
			{"/", "www.example:080"},
			{"/", "WWW.Example"},
			{"/", "www.example.:80"},
			{"http://www.example:80/", "www.example"},
			{"HTTP://www.example:/", "elsewhere"},
		} {
			s := site(t, []string{o.addr}, func(c *proxy.Config) { c.Sites[0].Route.Spelling = spelling })
			target := fmt.Sprintf("%s?%d.%d", strings.TrimSuffix(tt.target, "/"), spelling, i)
			if strings.HasPrefix(target, "?") {
				target = "/" + target
			}
			testserver.Wait(t, "what the client asked for is stored", func() bool {
				return strings.Contains(s.visit(t, "GET", target, tt.host).Header.Get("Cache-Status"), "; hit")
			})
			plain := s.visit(t, "GET", fmt.Sprintf("/?%d.%d", spelling, i), "www.example")
			if got := plain.Header.Get("Location"); got != "http://www.example/to" ||
				fmt.Sprint(field(o.last(), "Host")) != "[www.example]" {
				t.Errorf("%d: after %+v others are led to %q; Host was %q", spelling, tt, got, field(o.last(), "Host"))
			}
			if status := plain.Header.Get("Cache-Status"); !strings.Contains(status, "; hit") {
				t.Errorf("%d: %+v is another resource: %s", spelling, tt, status)
			}
		}
	}
}

// The same holds for servers of forward proxy requests, with each spelling of the path.
func TestHostOfForwarding(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n")
	_, port, _ := strings.Cut(o.addr, ":")
	for _, spelling := range []route.Spelling{route.SpellingNormal, route.SpellingExact} {
		s := start(t, func(c *proxy.Config) { c.Spelling = spelling })
		for _, authority := range []string{"localhost:" + port, "LocalHost:0" + port, "localhos%74:" + port} {
			s.get(t, "http://"+authority+"/a")
			if got := fmt.Sprint(field(o.last(), "Host")); got != "[localhost:"+port+"]" {
				t.Errorf("%d: Host of %s is %s", spelling, authority, got)
			}
		}
	}
}

// The same holds for :authority of HTTP/2 (RFC 9113 section 8.3.1).
func TestHostOfSitesByHTTP2(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n")
	s := startOn(t, certificate(t), withSite(t, []string{o.addr}, nil))
	for _, authority := range []string{
		"www.example", "www.example:443", "www.example:0443", "www.example:",
		"WWW.Example", "www.example.:443",
	} {
		response, _ := s.ask2(t, "GET", "https://www.example/", nil, func(r *http.Request) { r.Host = authority })
		if got := fmt.Sprint(field(o.last(), "Host")); response.ProtoMajor != 2 || got != "[www.example]" {
			t.Errorf("%s by %s: %d, Host %s", authority, response.Proto, response.StatusCode, got)
		}
	}
}
