package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// server is a Handler with a listener, and a resolver that a test can replace.
type server struct {
	addr string
	next resolver.Func
	stop func()
}

const maxTarget = 1024

func malformed(m listen.Malformed) listen.Document {
	status, contentType, body := problem.Short(problem.Malformed(m.Status, m.Reason, m.Target, maxTarget, m.PlainHTTP))
	return listen.Document{Status: status, ContentType: contentType, Body: body}
}

// bodyTimeout is for each part of a request's body.
const bodyTimeout = 500 * time.Millisecond

func start(t testing.TB, change func(*proxy.Config)) *server {
	t.Helper()
	return startOn(t, nil, change)
}

// fastPath returns the fast path of a handler, nil where URND_LISTEN_FAST_PATH turns it off: all tests pass with it
// and without.
func fastPath(h *proxy.Handler) listen.FastPath {
	if os.Getenv("URND_LISTEN_FAST_PATH") == "false" {
		return nil
	}
	return h.Fast()
}

// startOn is start with TLS, nil for none, and with other settings of the server.
func startOn(t testing.TB, secure *tls.Config, change func(*proxy.Config), settings ...func(*listen.ServerConfig)) *server {
	t.Helper()
	s := &server{next: func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{
			Locations: []resolver.Location{{URI: "https://a.example/" + q.URI.String(), From: &resolver.Source{Name: "test"}}},
			TTL:       90 * time.Second, Cache: resolver.CacheHit,
		}, nil
	}}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) { return s.next(ctx, q) })
	fetch := schemehttp.New(schemehttp.Config{
		Dial: netguard.New(time.Second, loopback).DialContext, HeaderTimeout: 5 * time.Second,
		ContinueTimeout: testserver.Patience, MaxIdle: 4, Now: time.Now,
	})
	t.Cleanup(fetch.Close)
	log := slog.New(slog.DiscardHandler)
	known := resolver.Names{Set: set, Accept: uri.CurrentURN}
	config := proxy.Config{
		Names: known, RuleTTL: time.Hour, ListingSize: 4 << 20,
		Resolver: resolver.NewCanonical(known, &resolver.Split{Names: names, Locations: scheme.NewSelf()}),
		Fetch:    scheme.Mux{"http": fetch}, Schemes: gateways(), Log: log, Now: time.Now,
		Access: gate.Access{Resolve: []netip.Prefix{loopback}, Proxy: []netip.Prefix{loopback}}, Own: route.NewOwnHosts("a"), MaxTarget: maxTarget,
		BatchTimeout: time.Minute, ClientShare: 100, DocumentWait: 200 * time.Millisecond,
		Forward: forward.Config{
			BodyTimeout: bodyTimeout, TunnelIdle: time.Minute,
			Fetches: resolver.Quota{Slots: make(resolver.Slots, 100)}, Streams: resolver.Quota{Slots: make(resolver.Slots, 100)},
			Bound:      resolver.Quota{Slots: make(resolver.Slots, 100), Busy: problem.ErrBound},
			Cache:      httpcache.New(httpcache.Config{Now: time.Now, Same: func(string, string) (string, bool) { return "", false }}),
			TunnelPort: func(uint16) bool { return true }, Literals: true,
			Tunnel: func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
				return fetch.Tunnel(ctx, target, check)
			},
		},
		Observers: proxy.Observers{Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }},
	}
	if change != nil {
		change(&config)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	handler := proxy.New(config)
	serving := listen.ServerConfig{
		Handler: handler, FastPath: fastPath(handler), Now: time.Now, Log: log, Malformed: malformed, MaxTarget: maxTarget, MaxHeader: 4096, TLS: secure,
		HeaderTimeout: 5 * time.Second, BodyDeadline: func() time.Time { return time.Now().Add(bodyTimeout) }, IdleTimeout: 5 * time.Second,
		ShutdownTimeout: 5 * time.Second,
	}
	for _, set := range settings {
		set(&serving)
	}
	go func() { done <- listen.NewServer(serving).Serve(ctx, listener) }()
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(s.stop)
	s.addr = listener.Addr().String()
	return s
}

// conn is a client on one connection.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func newConn(c net.Conn) conn { return conn{c, bufio.NewReader(c)} }

// ask sends a raw request, and returns the response with its whole body.
func (c conn) ask(t testing.TB, request string) *http.Response {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(testserver.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return response
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	response.Body = io.NopCloser(strings.NewReader(string(body)))
	return response
}

// ask sends raw requests over one connection and returns the responses.
func (s *server) ask(t testing.TB, requests ...string) []*http.Response {
	t.Helper()
	dialled, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	c := newConn(dialled)
	var responses []*http.Response
	for _, request := range requests {
		responses = append(responses, c.ask(t, request))
	}
	return responses
}

func (s *server) get(t testing.TB, target string, fields ...string) *http.Response {
	t.Helper()
	return s.ask(t, "GET "+target+" HTTP/1.1\r\nHost: a\r\n"+strings.Join(append(fields, ""), "\r\n")+"\r\n")[0]
}

func text(t testing.TB, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestRedirects(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		target   string
		status   int
		location string
	}{
		{"/urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/URN:IETF:RFC:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/urn:example:a//b/../c%2f", 302, "https://a.example/urn:example:a//b/../c%2F"},
		{"urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"urn:example:a?+r?=q=1", 302, "https://a.example/urn:example:a?q=1"},
		{"/urn:example:a?=q=1#f", 302, "https://a.example/urn:example:a?q=1#f"},
		{"/?uri=urn:ietf:rfc:2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/?uri=urn%3Aietf%3Arfc%3A2648", 302, "https://a.example/urn:ietf:rfc:2648"},
		{"/uri-res/N2L?urn:ietf:rfc:2648", 303, "https://a.example/urn:ietf:rfc:2648"},
		{"/uri-res/i2l?URN:ietf:rfc:2648", 303, "https://a.example/urn:ietf:rfc:2648"},
		{"/HTTP://Example.COM:80/b/../%7Esmith", 302, "http://example.com/~smith"},
		{"/http://a.example//x//y", 302, "http://a.example//x//y"},
		{"/http://a.example/?a=b&c", 302, "http://a.example/?a=b&c"},
		{"/mailto:A@Example.org", 302, "mailto:A@example.org"},
		// What net/url and http.ServeMux would change.
		{"URN:Example:A", 302, "https://a.example/urn:example:A"},
		{"/news:comp.lang.go", 302, "news:comp.lang.go"},
		{"/urn:x1:a//b", 302, "https://a.example/urn:x1:a//b"},
		{"/http://h.example//x/../y", 302, "http://h.example//y"}, // RFC 3986 section 5.2.4
		{"/?uri=urn:x1:a//b/../c", 302, "https://a.example/urn:x1:a//b/../c"},
		{"/gopher://h.example/1a%09b", 302, "gopher://h.example/1a%09b"},           // the raw form: RFC 4266 section 2.1
		{"/http://A.example:080/%7eb", 302, "http://a.example/~b"},                 // normal form: RFC 3986 section 6.2.3
		{"/uri-res/N2L?urn:x1:a%2Db%7E", 303, "https://a.example/urn:x1:a%2Db%7E"}, // RFC 2169 section 2: encoded as it was sent
		{"/uri-res/N2L?urn:x1:a?+r?=q?=1", 303, "https://a.example/urn:x1:a?q?=1"}, // RFC 2169 section 2: all behind the first ?
		{"/uri-res/I2L?urn:x1:a/b~c&d", 303, "https://a.example/urn:x1:a/b~c&d"},   // RFC 2169 section 2
		{"/uri-res/n2L?urn:x1:a", 303, "https://a.example/urn:x1:a"},               // RFC 2483 section 2.1
		{"/uri-res/L2L?http://B.example", 303, "http://b.example/"},                // RFC 2483 section 4.1: URLs too
	} {
		response := s.get(t, tt.target)
		if response.StatusCode != tt.status || response.Header.Get("Location") != tt.location {
			t.Errorf("%s: %d %s", tt.target, response.StatusCode, response.Header.Get("Location"))
		}
	}
	if body := text(t, s.get(t, "URN:Example:A", "Accept: application/vnd.urnd.trace+json")); !strings.Contains(body, `"input": "URN:Example:A"`) {
		t.Errorf("the input is %s", body)
	}
	old := s.ask(t, "GET /uri-res/N2L?urn:ietf:rfc:2648 HTTP/1.0\r\n\r\n")[0]
	if old.StatusCode != 302 {
		t.Errorf("THTTP to an HTTP/1.0 client: %d", old.StatusCode)
	}
}

func TestRedirectFields(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		state           resolver.CacheState
		ttl             time.Duration
		status, control string
	}{
		{resolver.CacheHit, 90 * time.Second, "urnd; hit; ttl=90", "max-age=90"},
		{resolver.CacheMiss, 90 * time.Second, "urnd; fwd=uri-miss; stored; ttl=90", "max-age=90"},
		{resolver.CacheMiss, 0, "urnd; fwd=uri-miss; ttl=0", "no-store"},
		{resolver.CacheCollapsed, time.Second, "urnd; fwd=uri-miss; collapsed; stored; ttl=1", "max-age=1"},
		{resolver.CacheStale, -5 * time.Second, "urnd; hit; detail=stale-on-error; ttl=-5", "max-age=0"},
		{resolver.Uncached, 0, "urnd; fwd=bypass", "no-store"},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Locations: []resolver.Location{{URI: "http://a/", From: &resolver.Source{}}}, TTL: tt.ttl, Cache: tt.state}, nil
		}
		header := s.get(t, "/urn:example:a").Header
		if header.Get("Cache-Status") != tt.status || header.Get("Cache-Control") != tt.control {
			t.Errorf("%s: %q, %q", tt.state, header.Get("Cache-Status"), header.Get("Cache-Control"))
		}
	}
}

// The problem must name the octet, the input and the rule, also where net/http refuses the
// request before the handler.
func TestBadInput(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		target, input string
		offset        int
		rule          string
	}{
		{"/urn:a", "urn:a", 5, "NID"},
		{"/urn:example:", "urn:example:", 12, "NSS"},
		{"/urn:example:a%zz", "urn:example:a%zz", 13, "pct-encoded"},
		{"/urn:example:a%00", "urn:example:a%00", 13, "NUL"},
		{"/urn:example:a|b", "urn:example:a|b", 13, "path"},
		{"/urn:example:\x7f", "urn:example:\x7f", 12, "path"},
		{"urn:example:a%zz", "urn:example:a%zz", 13, "pct-encoded"},
		{"/no thing:x", "no thing:x", 2, "scheme"},
		{"http://[::1", "http://[::1", 7, "IP-literal"},
		{"/urn:isbn:0395363412", "urn:isbn:0395363412", 18, "check digit"},
		{"/uri-res/N2L", "/uri-res/N2L", 12, "THTTP"},
		{"/api/v1/resolve", "/api/v1/resolve", 15, "parameter"},
		{"/api/v1/resolve?uri=urn:a", "urn:a", 5, "NID"},
	} {
		response := s.get(t, tt.target)
		var got struct {
			Status             int
			Input, Rule        string
			Offset             *int
			Section            string
			Title, Detail, Typ string
		}
		body := text(t, response)
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("%q: %v: %s", tt.target, err, body)
			continue
		}
		if response.StatusCode != 400 || response.Header.Get("Content-Type") != "application/problem+json" ||
			got.Status != 400 || got.Input != tt.input || got.Rule != tt.rule || got.Offset == nil || *got.Offset != tt.offset ||
			got.Section == "" || got.Title == "" || got.Detail == "" {
			t.Errorf("%q: %d %s", tt.target, response.StatusCode, body)
		}
	}
}

// A refusal by net/http gives the reason also for later requests of a connection.
func TestRefusalOfALaterRequest(t *testing.T) {
	s := start(t, nil)
	good := "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"
	responses := s.ask(t, good, good, "GET /urn:example:a%zz HTTP/1.1\r\nHost: a\r\n\r\n")
	if body := text(t, responses[2]); responses[2].StatusCode != 400 || !strings.Contains(body, `"offset": 13`) {
		t.Errorf("%d %s", responses[2].StatusCode, body)
	}
}

func TestStatus(t *testing.T) {
	s := start(t, nil)
	long := "/urn:example:" + strings.Repeat("a", maxTarget)
	huge := "/urn:example:" + strings.Repeat("a", 64<<10)
	for _, tt := range []struct {
		request string
		err     error
		status  int
	}{
		{"GET /urn:example:a", &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "tried all"}, 404},
		{"GET /urn:example:a", resolver.ErrUnreachable, 502},
		{"GET /urn:example:a", context.DeadlineExceeded, 504},
		{"GET /urn:example:a", errors.New("a bug"), 500},
		{"GET /javascript:alert(1)", nil, 403},
		{"GET /file:///etc/passwd", nil, 403},
		{"GET ftp://a.example/x", nil, 501},
		{"GET /uri-res/N2X?urn:example:a", nil, 501},
		{"GET " + long, nil, 414},
		{"GET " + huge, nil, 414},
		{"POST /urn:example:a", nil, 405},
		{"BREW /urn:example:a", nil, 501}, // RFC 9110 section 15.6.2
		{"PROPFIND /", nil, 501},
		{"CONNECT a.example:0", nil, 400},
		{"GET /urn:example:a HTTP/1.1\r\nX: " + strings.Repeat("a", 64<<10) + "\r\nY: z", nil, 431},
		{"GET /urn:example:a HTTP/1.1\r\nA B: c\r\nY: z", nil, 400},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, tt.err }
		request := tt.request
		if !strings.Contains(request, " HTTP/1.1") {
			request += " HTTP/1.1"
		}
		response := s.ask(t, request+"\r\nHost: a\r\n\r\n")[0]
		body := text(t, response)
		if response.StatusCode != tt.status || response.Header.Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(body, `"detail"`) || strings.Contains(body, "a bug") {
			t.Errorf("%.60q, %v: %d %.300s", tt.request, tt.err, response.StatusCode, body)
		}
	}
}

func TestPages(t *testing.T) {
	s := start(t, nil)
	browser := "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	response := s.get(t, "/urn:example:<script>", browser)
	body := text(t, response)
	if response.StatusCode != 400 || response.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
		strings.Contains(body, "<script>") || !strings.Contains(body, "<mark>&lt;</mark>") || !strings.Contains(body, "RFC 3986 section 3.3") {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	home := s.get(t, "/", browser)
	if body := text(t, home); home.StatusCode != 200 || !strings.Contains(body, "<form") {
		t.Errorf("home: %d %s", home.StatusCode, body)
	}
	head := s.ask(t, "HEAD /urn:a HTTP/1.1\r\nHost: a\r\n\r\n")[0]
	if body := text(t, head); head.StatusCode != 400 || body != "" || head.ContentLength <= 0 {
		t.Errorf("HEAD: %d %d %s", head.StatusCode, head.ContentLength, body)
	}
}

// gateways are protocol gateways, of which a test has the handlers that it needs.
func gateways() scheme.Infos {
	return scheme.Infos{
		{Names: []string{"ftp", "file"}, Noun: "file or directory", Stored: true, Browsable: true},
		{Names: []string{"gopher"}, Noun: "document or menu", Stored: true, Browsable: true},
		{Names: []string{"news", "nntp"}, Noun: "article or newsgroup", Stored: true, Browsable: true},
		{Names: []string{"wais", "z39.50r", "z39.50s"}, Noun: "document or database", Stored: true, Browsable: true},
		{Names: []string{"telnet", "tn3270", "rlogin", "ftps", "gemini", "prospero"}, Stored: true, Browsable: true},
		{Names: []string{"mailto"}, Stored: true},
	}
}
