package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
)

// Hop-by-hop fields are not forwarded (RFC 9110 section 7.6.1).
func TestHopByHop(t *testing.T) {
	const hops = "Connection: X-Named , close\r\nConnection: x-other\r\nX-Named: 1\r\nX-Other: 2\r\nKeep-Alive: " +
		"timeout=5\r\n" +
		"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic YTpi\r\nProxy-Authenticate: " +
		"Basic\r\nProxy-Authentication-Info: a=b\r\n" +
		"TE: gzip\r\nTrailer: X-T\r\nUpgrade: a/1\r\nHTTP2-Settings: AAA\r\n"
	names := []string{
		"X-Named", "X-Other", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate",
		"Proxy-Authentication-Info", "TE", "Trailer", "Upgrade", "HTTP2-Settings",
	}
	o := always(t, "HTTP/1.1 200 OK\r\n"+hops+
		"X-End: 1\r\nX-End: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok")
	s := start(t, nil)
	answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n"+hops+
		"X-End: 1\r\nX-End: 2\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n")
	for _, side := range []struct{ name, bytes string }{{"request", o.last()}, {"response", answer}} {
		for _, name := range names {
			if got := field(side.bytes, name); len(got) > 0 {
				t.Errorf("%s: %s is forwarded: %q", side.name, name, got)
			}
		}
		if got := fmt.Sprint(field(side.bytes, "X-End")); got != "[1 2]" {
			t.Errorf("%s: repeated fields are %s", side.name, got)
		}
	}
	if got := fmt.Sprint(field(o.last(), "Connection")); got != "[]" {
		t.Errorf("request: Connection: %s", got)
	}
	if got := fmt.Sprint(field(answer, "Set-Cookie")); got != "[a=1 b=2]" { // RFC 6265 section 3
		t.Errorf("Set-Cookie lines are %s", got)
	}
	if !strings.HasSuffix(answer, "\r\n\r\nok") {
		t.Errorf("%q", answer)
	}
}

// The fields that an origin names in Connection do not change how the cache reads its response, and those
// that a client names do not change the request (RFC 9110 section 7.6.1).
func TestConnectionNamesFieldsForAll(t *testing.T) {
	for name, tt := range map[string]struct {
		response, request string // of the response and of the request
		hits              bool   // a second request, with X-A, is a cache hit
	}{
		"nothing": {"Connection: close\r\nCache-Control: max-age=60", "", true},
		"Cache-Control": {"Connection: Cache-Control\r\nCache-Control: no-store\r\nExpires: Fri, 31 Dec 2100 " +
			"23:59:59 GMT", "", false},
		"in another line": {
			"Connection: close\r\nConnection: x-b, cache-control\r\nCache-Control: private\r\nExpires: Fri, 31 Dec " +
				"2100 23:59:59 GMT",
			"", false,
		},
		"Vary": {"Connection: Vary\r\nCache-Control: max-age=60\r\nVary: X-A", "", false},
		"Age":  {"Connection: Age\r\nCache-Control: max-age=60\r\nAge: 61", "", false},
		"what the client sends": {
			"Cache-Control: max-age=60\r\nVary: Cookie",
			"Connection: Cookie\r\nCookie: a=1\r\n", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := always(t, "HTTP/1.1 200 OK\r\n"+tt.response+"\r\nContent-Length: 2\r\n\r\nok")
			s := start(t, func(c *proxy.Config) { withCache(t, c) })
			request := "GET http://" + o.addr + "/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + tt.request
			answer, _ := s.bytes(t, request+"\r\n")
			if strings.Contains(tt.request, "Cookie: a=1") && !strings.Contains(o.last(), "Cookie: a=1") {
				t.Errorf("the origin got %q", o.last())
			}
			for _, line := range strings.Split(tt.response, "\r\n") {
				if !strings.HasPrefix(line, "Connection") && !strings.HasPrefix(line, "Age") &&
					!strings.Contains(answer, line) {
					t.Errorf("%s is missing in %q", line, answer)
				}
			}
			again, _ := s.bytes(t, request+"X-A: 1\r\n\r\n")
			if hits := strings.Contains(again, "urnd; hit"); tt.request == "" && hits != tt.hits {
				t.Errorf("a hit: %t: %q", hits, again)
			}
		})
	}
}

// TE: trailers is generated anew (RFC 9110 section 10.1.4).
func TestTrailersAreRequested(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	s := start(t, nil)
	s.bytes(t,
		"GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nConnection: TE, close\r\nTE: gzip;q=0.5, trailers\r\n\r\n")
	if te, connection := fmt.Sprint(field(o.last(), "TE")), fmt.Sprint(field(o.last(),
		"Connection")); te != "[trailers]" || connection != "[TE]" {
		t.Errorf("TE %s, Connection %s", te, connection)
	}
}

// Via is added in both directions, and a request that came through this urnd is rejected as a loop (RFC 9110
// section 7.6.3, RFC 8586).
func TestViaOfForwarding(t *testing.T) {
	via := httpmessage.NewViaName()
	own := via.String()
	id := strings.TrimPrefix(own, "1.1 ")
	o := always(t, "HTTP/1.1 200 OK\r\nVia: 1.0 origin\r\nContent-Length: 0\r\n\r\n")
	s := start(t, func(c *proxy.Config) { c.Via = via })
	answer, _ := s.bytes(t, "GET http://"+o.addr+
		"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nVia: 1.0 a, 1.1 b (x)\r\n\r\n")
	if got := strings.Join(field(o.last(), "Via"), ", "); got != "1.0 a, 1.1 b (x), "+own {
		t.Errorf("Via of the request: %q", got)
	}
	if got := strings.Join(field(answer, "Via"), ", "); got != "1.0 origin, "+own {
		t.Errorf("Via of the response: %q", got)
	}
	before := len(o.requests())
	for _, tt := range []struct {
		name, fields string
		status       int
	}{
		{"Via", "Via: 1.0 a, " + own + ", 1.1 b", 508},
		{"Via that Connection names", "Connection: Via\r\nVia: " + own, 508},
		{"CDN-Loop", "CDN-Loop: a; b=c, " + id, 508},
		{"the name of another one", "Via: 1.1 " + id + "x", 200},
		{"a comment", "Via: 1.1 a (" + id + ")", 200},
	} {
		for _, method := range []string{"GET", "POST", "CONNECT"} {
			target, status := "http://"+o.addr+"/", tt.status
			if method == "CONNECT" {
				target = o.addr
			}
			answer := s.dial(t)
			answer.send(t, method+" "+target+" HTTP/1.1\r\nHost: "+o.addr+"\r\n"+tt.fields+"\r\n\r\n")
			if head := answer.head(t); !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", status)) {
				t.Errorf("%s %s: %.60q", method, tt.name, head)
			} else if status == 508 && method != "CONNECT" &&
				!strings.Contains(head, "Proxy-Status: urnd; error=proxy_loop_detected") {
				t.Errorf("%s %s: %q", method, tt.name, head)
			}
			answer.Close()
		}
	}
	if got := len(o.requests()) - before; got != 4 {
		t.Errorf("%d requests came", got)
	}
}
