package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/policy"
)

// outcomes records what is observed of requests.
type outcomes struct {
	mu   sync.Mutex
	all  []string
	fast int
}

func (o *outcomes) observe(e *proxy.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e.Fast {
		o.fast++
	}
	failure := ""
	if e.Err != nil {
		failure = e.Err.Error()
	}
	o.all = append(o.all, fmt.Sprint(e.Client, e.Form, e.Service, e.Cache, e.Rule, e.Status, e.Bytes, e.Type, len(e.ID), failure,
		e.Request.Method, e.Request.RequestURI, e.Request.Proto, e.Request.Header.Get("Referer"), e.Request.Header.Get("User-Agent")))
}

var changing = regexp.MustCompile(`(?m)^(Date|X-Request-Id): .*`)

// octetsOf sends a request and returns the octets of the response.
func (s *server) octetsOf(t *testing.T, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(testserver.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(io.TeeReader(c, &raw)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return changing.ReplaceAllString(raw.String(), "$1")
}

// all sends requests, of which the last one closes the connection, and returns the octets of the responses.
func (s *server) all(t *testing.T, requests string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(testserver.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, requests); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return changing.ReplaceAllString(string(all), "$1")
}

// Each response is the same on both paths, and so is what is observed of it.
func TestFastPathIsInvisible(t *testing.T) {
	o := answering(t, func(request string) string {
		line, _, _ := strings.Cut(request, "\r\n")
		vary := ""
		if strings.Contains(line, "vary") {
			vary = "Vary: Accept-Encoding, Cookie\r\nETag: \"a\"\r\n"
		}
		return fmt.Sprintf("HTTP/1.1 200 Fine\r\nCache-Control: max-age=3600\r\n%sX-Request-Id: theirs\r\nLast-Modified: Sun, 01 Nov 2020 00:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s", vary, len(line), line)
	})
	targets := []string{
		"/urn:ietf:rfc:1", "/urn:ietf:rfc:0", "/URN:IETF:rfc:1", "/urn%3aietf%3Arfc%3a1", "urn:ietf:rfc:1", "urn:ietf:rfc:0", "URN:ietf:RFC:1",
		"/uri-res/N2L?urn:ietf:rfc:1", "/uri-res/N2L?urn:ietf:rfc:0", "/uri-res/n2l?URN:ietf:rfc:1", "/uri-res/L2L?urn:ietf:rfc:1", "/uri-res/N2Ls?urn:ietf:rfc:1", "/uri-res/N2L?", "/uri-res/N2L?http://" + o.addr + "/",
		"/urn:isbn:0-395-36341-1", "/urn:isbn:0395363411", "/urn:isbn:1", "/urn:example:a%2fb", "/urn:example:a%2Fb", "/urn:example:a?=q", "/urn:example:a?+r", "/urn:example:a?x", "/urn:example:a?s=I2C",
		"/urn:example:" + strings.Repeat("aB%c3", 60), "/urn:example:" + strings.Repeat("a", 900) + ":0", "/urn:nobody:a:0", "/urn:nobody:http://a", "urn:example:a://b/c", "/urn:x:", "/urn:", "/urn:example:a/../b", "//urn:example:a",
		"/?uri=urn:ietf:rfc:1", "/", "/nothing", "/isbn:0395363411", "/api/v1/resolve?uri=urn:ietf:rfc:1", "/proxy.pac", "/fetch?uri=http://" + o.addr + "/",
		"http://" + o.addr + "/", "http://" + o.addr, "HTTP://" + o.addr + "/", "http://" + o.addr + "/vary", "http://" + o.addr + "/%7ea/../b", "http://" + o.addr + "?q", "http://" + o.addr + "/denied", "http://www.example/", "http://WWW.example:80/a", "https://www.example/", "ftp://www.example/", "http://www.example./%61",
	}
	fields := []string{
		"", "Accept: text/html\r\n", "Accept:\r\n", "Accept: application/vnd.urnd.trace+json\r\n", "Accept: application/json, text/html;q=0.1\r\n", "Origin: https://b.example\r\n", "User-Agent: u\r\nReferer: https://c.example/\r\n",
		"If-None-Match: *\r\n", "If-None-Match: \"a\"\r\nAccept-Encoding: gzip\r\n", "If-Modified-Since: Sun, 01 Nov 2025 00:00:00 GMT\r\n", "Cookie: a=b\r\n", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n",
	}
	configs := map[string]func(*proxy.Config){
		"plain":    func(*proxy.Config) {},
		"identify": func(c *proxy.Config) { c.Identify = true },
		"TLS":      func(c *proxy.Config) { c.RedirectTLS = true },
		"CORS":     func(c *proxy.Config) { c.Access.Origins = []string{"*", "https://b.example"} },
		"spelling": func(c *proxy.Config) { c.Spelling = proxy.SpellingRedirect },
		"original": func(c *proxy.Config) { c.Spelling = proxy.SpellingOriginal },
		"no proxy": func(c *proxy.Config) { c.Access.Proxy = nil },
		"nobody":   func(c *proxy.Config) { c.Access.Resolve, c.Access.Proxy = nil, nil },
		"all":      func(c *proxy.Config) { c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")} },
		"policy": func(c *proxy.Config) {
			rules, err := policy.New(policy.Enforce, []policy.Rule{
				{ID: "head", Deny: true, Methods: []string{"HEAD"}}, {ID: "to", Deny: false, Destinations: []netip.Prefix{loopback}},
			})
			if err != nil {
				t.Fatal(err)
			}
			c.Policy = rules
		},
		"names": func(c *proxy.Config) { c.Names.Own = []string{"http://www.example/"}; c.History = true },
	}
	now := time.Now()
	hosts := []string{"a", "www.example", "WWW.Example.:80", "evil.example", "127.0.0.1", "[::1]:80", "[", ":"}
	for name, change := range configs {
		var seen [2]outcomes
		var servers [2]*server
		for i := range servers {
			servers[i] = startOn(t, nil, func(c *proxy.Config) {
				c.Now = func() time.Time { return now }
				withSite(t, []string{o.addr}, nil)(c)
				c.Access.Proxy = []netip.Prefix{loopback}
				withAnswers(t, c, located)
				c.Observe = seen[i].observe
				change(c)
			}, func(c *listen.ServerConfig) {
				if i == 1 {
					c.FastPath = nil
				}
			})
		}
		for _, target := range targets {
			ask := func(method, host, more string) {
				t.Helper()
				request := method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n"
				var got [2]string
				for i, s := range servers {
					s.octetsOf(t, request)
					got[i] = s.octetsOf(t, request)
				}
				if got[0] != got[1] {
					t.Errorf("%s: %q\nfast %s\nfull %s", name, request, got[0], got[1])
				}
			}
			for _, host := range hosts {
				ask(http.MethodGet, host, "")
			}
			ask(http.MethodHead, "a", "")
			if name != "plain" && name != "identify" {
				continue
			}
			for _, more := range fields {
				ask(http.MethodGet, "a", more)
			}
		}
		var pipelined strings.Builder
		for i, target := range targets {
			fmt.Fprintf(&pipelined, "GET %s HTTP/1.1\r\nHost: a\r\nUser-Agent: %d\r\nReferer: https://r.example/%d\r\n\r\n", target, i, i)
		}
		pipelined.WriteString("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if fast, full := servers[0].all(t, pipelined.String()), servers[1].all(t, pipelined.String()); fast != full {
			t.Errorf("%s: pipelined\nfast %s\nfull %s", name, fast, full)
		}
		for i := range servers {
			servers[i].stop()
		}
		if len(seen[0].all) != len(seen[1].all) {
			t.Fatalf("%s: %d and %d are observed", name, len(seen[0].all), len(seen[1].all))
		}
		shown := 0
		for i, one := range seen[0].all {
			if one != seen[1].all[i] && shown < 10 {
				shown++
				t.Errorf("%s: observed\nfast %s\nfull %s", name, one, seen[1].all[i])
			}
		}
		if on := os.Getenv("URND_LISTEN_FAST_PATH") != "false"; on && name != "nobody" && seen[0].fast < len(seen[0].all)/5 {
			t.Errorf("%s: of %d requests the fast path has answered %d", name, len(seen[0].all), seen[0].fast)
		}
	}
}
