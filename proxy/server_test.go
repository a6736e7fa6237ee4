package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
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

// bodyTimeout applies to each part of a request's body.
const bodyTimeout = 500 * time.Millisecond

func start(t testing.TB, change func(*proxy.Config)) *server {
	t.Helper()
	return startOn(t, nil, change)
}

// engine is the configuration of a server, which a test may change before serving.
type engine struct {
	listen    listen.ServerConfig
	protocols proxy.ServerConfig
}

// newEngine returns the engine of a handler, with TLS unless secure is nil.
func newEngine(handler httpmessage.Handler, secure *tls.Config, panicked func(value any, stack []byte)) *engine {
	const timeout = 5 * time.Second
	log := slog.New(slog.DiscardHandler)
	return &engine{
		listen: listen.ServerConfig{
			Now: time.Now, Log: log, TLS: secure, ReadHeaderTimeout: timeout,
			ShutdownTimeout: timeout,
		},
		protocols: proxy.ServerConfig{
			Handler: handler, Now: time.Now, Log: log, Panicked: panicked, MaxTarget: maxTarget, MaxHeaderBytes: 4096,
			ReadHeaderTimeout: timeout, IdleTimeout: timeout, BodyTimeout: bodyTimeout,
		},
	}
}

// serve serves a new listener until the test ends or stop is called, which returns the error of Serve.
func (e *engine) serve(t testing.TB) (addr string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := proxy.NewServer(e.protocols)
	e.listen.Serve = protocols.Serve
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- listen.NewServer(e.listen).Serve(ctx, listener) }()
	stop = sync.OnceValue(func() error {
		cancel()
		defer protocols.Close()
		return <-done
	})
	t.Cleanup(func() { _ = stop() })
	return listener.Addr().String(), stop
}

// startOn is start with TLS, nil for none, and with other settings of the engine.
func startOn(t testing.TB, secure *tls.Config, change func(*proxy.Config), settings ...func(*engine)) *server {
	t.Helper()
	s := &server{next: func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{
			Locations: []resolver.Location{{
				URI:  "https://a.example/" + q.URI.String(),
				From: &resolver.Source{Name: "test"},
			}},
			TTL: 90 * time.Second, Cache: resolver.CacheHit,
		}, nil
	}}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	names := resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		return s.next(ctx, q)
	})
	fetch := schemehttp.New(schemehttp.Config{
		Dial: netguard.New(time.Second, loopback).DialContext, HeaderTimeout: 5 * time.Second,
		ContinueTimeout: testserver.Timeout, MaxIdle: 4, Now: time.Now,
	})
	t.Cleanup(fetch.Close)
	log := slog.New(slog.DiscardHandler)
	known := resolver.Names{Set: set, Accept: uri.CurrentURN}
	config := proxy.Config{
		Names: known, RuleTTL: time.Hour, ListingSize: 4 << 20,
		Resolver: resolver.NewCanonical(known, &resolver.Mux{Names: names, Locations: scheme.NewSelf()}),
		Fetch:    scheme.Mux{"http": fetch}, Schemes: gateways(), Log: log, Now: time.Now,
		Access:   gate.Access{Resolve: []netip.Prefix{loopback}, Proxy: []netip.Prefix{loopback}},
		OwnHosts: route.NewOwnHosts("a"), MaxTarget: maxTarget, BatchTimeout: time.Minute, ClientQuotaPercent: 100,
		DocumentWait: 200 * time.Millisecond,
		Forward: forward.Config{
			TunnelIdle: time.Minute,
			Fetches:    quota.Limit{Semaphore: make(quota.Semaphore, 100)},
			Streams:    quota.Limit{Semaphore: make(quota.Semaphore, 100)},
			Bound:      quota.Limit{Semaphore: make(quota.Semaphore, 100), Busy: problem.ErrTooManyBoundConnections},
			Cache: httpcache.New(httpcache.Config{
				Now:        time.Now,
				SameOrigin: func(string, string) (string, bool) { return "", false },
			}),
			TunnelPort: func(uint16) bool { return true },
			Tunnel: func(ctx context.Context, target string, check func(netip.AddrPort) error) (net.Conn, error) {
				return fetch.Tunnel(ctx, target, check)
			},
		},
		Observers: proxy.Observers{Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }},
	}
	if change != nil {
		change(&config)
	}
	e := newEngine(proxy.New(config), secure, config.Panicked)
	for _, set := range settings {
		set(e)
	}
	addr, stop := e.serve(t)
	s.addr, s.stop = addr, sync.OnceFunc(func() {
		if err := stop(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// conn is a client on one connection.
type conn struct {
	net.Conn
	in *bufio.Reader
}

func newConn(c net.Conn) conn { return conn{c, bufio.NewReader(c)} }

// ask sends a raw request, and returns the response with its complete body.
func (c conn) ask(t testing.TB, request string) *http.Response {
	t.Helper()
	if err := c.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
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

// gateways are descriptions of protocol gateways; a test sets the handlers that it needs.
func gateways() scheme.Infos {
	return scheme.Infos{
		{Names: []string{"ftp", "file"}, Noun: "file", Cacheable: true, Browsable: true},
		{Names: []string{"gopher"}, Noun: "menu", Cacheable: true, Browsable: true},
		{Names: []string{"news", "nntp"}, Noun: "article", Cacheable: true, Browsable: true},
		{Names: []string{"wais", "z39.50r", "z39.50s"}, Noun: "record", Cacheable: true, Browsable: true},
		{Names: []string{"telnet", "tn3270", "rlogin", "ftps", "gemini", "prospero"}, Cacheable: true, Browsable: true},
		{Names: []string{"mailto"}, Cacheable: true},
	}
}
