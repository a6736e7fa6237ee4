package formats_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// server is urnd's proxy on a socket, with a replaceable resolver.
type server struct {
	addr string
	next resolver.Func
}

const maxTarget = 1024

// start starts a server with a changed configuration, which ends with the test.
func start(t testing.TB, change func(*proxy.Config)) *server {
	t.Helper()
	s := &server{next: withLocations("https://a.example/")}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	fetch := schemehttp.New(schemehttp.Config{
		Dial: netguard.New(testserver.Timeout, loopback).DialContext, HeaderTimeout: testserver.Timeout, MaxIdle: 4,
		Now: time.Now,
	})
	t.Cleanup(fetch.Close)
	known := resolver.Names{Set: set, Accept: uri.CurrentURN}
	names := resolver.Func(func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		return s.next(ctx, q)
	})
	unbounded := func() quota.Limit { return quota.Limit{Semaphore: make(quota.Semaphore, 100)} }
	log := slog.New(slog.DiscardHandler)
	config := proxy.Config{
		Names: known, RuleTTL: time.Hour, ListingSize: 4 << 20,
		Resolver: resolver.NewCanonical(known, &resolver.Mux{Names: names, Locations: scheme.NewSelf()}),
		Fetch:    scheme.Mux{"http": fetch}, Schemes: gateways(), Log: log, Now: time.Now,
		Access:   gate.Access{Resolve: []netip.Prefix{loopback}, Proxy: []netip.Prefix{loopback}},
		OwnHosts: route.NewOwnHosts("a"), MaxTarget: maxTarget, BatchTimeout: time.Minute, ClientQuotaPercent: 100,
		Forward: forward.Config{
			TunnelIdle: time.Minute, Fetches: unbounded(), Streams: unbounded(), Bound: unbounded(),
			Cache: httpcache.New(httpcache.Config{
				Now:        time.Now,
				SameOrigin: func(string, string) (string, bool) { return "", false },
			}),
		},
		Observers: proxy.Observers{Panicked: func(value any, stack []byte) { t.Errorf("panic: %v\n%s", value, stack) }},
	}
	if change != nil {
		change(&config)
	}
	protocols := proxy.NewServer(proxy.ServerConfig{
		Handler: proxy.New(config), Now: time.Now, Log: log, MaxTarget: maxTarget, MaxHeaderBytes: 4096,
		ReadHeaderTimeout: testserver.Timeout, IdleTimeout: testserver.Timeout, BodyTimeout: testserver.Timeout,
	})
	serving := listen.ServerConfig{
		Serve: protocols.Serve, Now: time.Now, Log: log, ReadHeaderTimeout: testserver.Timeout,
		ShutdownTimeout: testserver.Timeout,
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- listen.NewServer(serving).Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		protocols.Close()
	})
	return s
}

// query sends a raw request, and returns the response with its body.
func (s *server) query(t testing.TB, request string) (response *http.Response, body []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err = http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	return response, body
}

// get returns the body of the response to a GET without fields.
func (s *server) get(t testing.TB, target string) []byte {
	t.Helper()
	_, body := s.query(t, "GET "+target+" HTTP/1.1\r\nHost: a\r\n\r\n")
	return body
}

// withLocations resolves each name to locations only.
func withLocations(uris ...string) resolver.Func {
	return func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if !q.Service.Locates() {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}
		}
		answer := resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit}
		for _, u := range uris {
			answer.Locations = append(answer.Locations, resolver.Location{URI: u, From: &resolver.Source{Name: "test"}})
		}
		return answer, nil
	}
}

func gateways() scheme.Infos {
	return scheme.Infos{
		{Names: []string{"ftp", "file"}, Noun: "file", Cacheable: true, Browsable: true},
		{Names: []string{"mailto"}, Cacheable: true},
	}
}
