package proxy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// observedServer is a server with a channel of its events.
type observedServer struct {
	*server
	events chan proxy.Event
}

func startObserved(t *testing.T, change func(*proxy.Config)) observedServer {
	t.Helper()
	w := observedServer{events: make(chan proxy.Event, 10)}
	w.server = start(t, func(c *proxy.Config) {
		c.Observe = func(e *proxy.Event) { w.events <- *e }
		if change != nil {
			change(c)
		}
	})
	return w
}

// event returns the next event. It is reported after the response.
func (w observedServer) event(t *testing.T) (next proxy.Event) {
	t.Helper()
	testserver.Within(t, "the wait for an event", func() { next = <-w.events })
	return next
}

// summary returns the form, service, cache status, status and media type of an event.
func summary(e proxy.Event) string {
	kind, _, _ := strings.Cut(e.Type, ";")
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", e.Form, e.Service, e.Cache, e.Status, kind))
}

func TestEvents(t *testing.T) {
	w := startObserved(t, nil)
	host := origin(t)
	for request, want := range map[string]string{
		"GET /urn:a1:b":                         "path I2L hit 302 text/html",
		"HEAD /urn:a1:b":                        "path I2L hit 302 text/html",
		"GET /?uri=urn:a1:b":                    "path I2L hit 302 text/html",
		"GET /urn:a1:b?s=I2C":                   "path I2C hit 200 application/ld+json",
		"GET urn:a1:b":                          "target I2L hit 302 text/html",
		"GET /uri-res/N2L?urn:a1:b":             "thttp I2L hit 303 text/html",
		"GET /uri-res/I2Ls?urn:a1:b":            "thttp I2Ls hit 200 text/uri-list",
		"GET /uri-res/N2Ns?urn:isbn:0395363411": "thttp I2Ns bypass 200 text/uri-list",
		"GET /uri-res/I=I?urn:a1:b%20urn:a1:c":  "thttp I=I bypass 200 text/plain",
		"GET /uri-res/N2X?urn:a1:b":             "thttp I2L bypass 501 application/problem+json",
		"GET /api/v1/resolve?uri=urn:a1:b":      "api I2L hit 200 application/json",
		"GET /api/v1/explain?uri=urn:a1:b":      "api I2L hit 200 application/json",
		"POST /api/v1/resolve":                  "batch I2L bypass 200 application/x-ndjson",
		"GET /":                                 "home I2L bypass 200 text/html",
		"GET /urn:a":                            "path I2L bypass 400 application/problem+json",
		"GET /http://a.example/":                "path I2L bypass 302 text/html",
		"GET http://" + host + "/":              "forward I2L bypass 418 text/plain",
		"HEAD http://" + host + "/":             "forward I2L bypass 418 text/plain",
		"GET ftp://a.example/":                  "forward I2L bypass 501 application/problem+json",
		"POST /urn:a1:b":                        "path I2L bypass 405 application/problem+json",
		"CONNECT a.example:0":                   "connect I2L bypass 400 application/problem+json",
	} {
		response := w.ask(t, request+" HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")[0]
		body := text(t, response)
		e := w.event(t)
		if got := summary(e); got != want || e.Status != response.StatusCode ||
			(e.Err != nil) != (e.Status >= 400 && e.Status != http.StatusTeapot) ||
			e.Client != netip.MustParseAddr("127.0.0.1") || e.Duration < 0 ||
			(e.ID != "") != (e.Status >= 400 && e.Status != http.StatusTeapot || e.Form == "batch") {
			t.Errorf("%.80s: %s, %d; %+v", request, got, response.StatusCode, e)
		}
		if method, _, _ := strings.Cut(request, " "); method != "HEAD" && e.Bytes != int64(len(body)) ||
			method == "HEAD" && e.Bytes != 0 {
			t.Errorf("%.80s: %d bytes, of %d", request, e.Bytes, len(body))
		}
	}
	if len(w.events) > 0 {
		t.Errorf("%d events too many", len(w.events))
	}
}

// An event has the user that the request names in Basic credentials, however the field is spelled.
func TestEventsOfUsers(t *testing.T) {
	w := startObserved(t, nil)
	const alice = "Basic YWxpY2U6c2VjcmV0" // alice:secret
	for field, want := range map[string]string{
		"Authorization: " + alice: "alice", "proxy-authorization: " + alice: "alice", "Authorization: Bearer a": "",
		"Cookie: a=b": "", "Accept: */*": "",
	} {
		_ = text(t, w.ask(t, "GET /urn:a1:b HTTP/1.1\r\nHost: a\r\n"+field+"\r\n\r\n")[0])
		if e := w.event(t); e.User != want {
			t.Errorf("%s: the user is %q, want %q", field, e.User, want)
		}
	}
}

// Events of negative answers and failures have the cache status and the error.
func TestEventsOfFailures(t *testing.T) {
	w := startObserved(t, nil)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{
			&resolver.Negative{Kind: resolver.ErrNotFound, Cache: resolver.CacheHit, TTL: time.Minute},
			"path I2L hit 404 application/problem+json",
		},
		{resolver.ErrUnreachable, "path I2L bypass 502 application/problem+json"},
		{resolver.ErrBusy, "path I2L bypass 503 application/problem+json"},
		{errors.New("a bug"), "path I2L bypass 500 application/problem+json"},
	} {
		w.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, tt.err }
		response := w.get(t, "/urn:a1:b")
		e := w.event(t)
		if got := summary(e); got != tt.want || !errors.Is(e.Err, tt.err) {
			t.Errorf("%v: %s, %v", tt.err, got, e.Err)
		}
		if id := response.Header.Get("X-Request-Id"); id != e.ID || id == "" {
			t.Errorf("%v: %q, and %q in the response", tt.err, e.ID, id)
		}
	}
}

// The event of a client that disconnected before the response has no status.
func TestEventOfAClientThatLeft(t *testing.T) {
	w := startObserved(t, nil)
	started := make(chan struct{})
	w.next = func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
		close(started)
		<-ctx.Done()
		return resolver.Answer{}, context.Cause(ctx)
	}
	conn, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /urn:a1:b HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-started
	_ = conn.(*net.TCPConn).SetLinger(0) // else it would only close its own side
	conn.Close()
	if e := w.event(t); e.Status != 0 || !errors.Is(e.Err, context.Canceled) {
		t.Errorf("%d, %v", e.Status, e.Err)
	}
}

// Nor has the event of an HTTP/2 stream that was reset.
func TestEventOfAResetStream(t *testing.T) {
	w := observedServer{events: make(chan proxy.Event, 1)}
	w.server = startOn(t, certificate(t), func(c *proxy.Config) { c.Observe = func(e *proxy.Event) { w.events <- *e } })
	ctx, reset := context.WithCancel(t.Context())
	w.next = func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
		reset()
		<-ctx.Done()
		return resolver.Answer{}, context.Cause(ctx)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://a/urn:a1:b", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := w.client2(t, "a").RoundTrip(request); err == nil {
		response.Body.Close()
		t.Errorf("status %d", response.StatusCode)
	}
	if e := w.event(t); e.Status != 0 || e.Bytes != 0 || e.Err == nil {
		t.Errorf("%+v", e)
	}
}

// Nor has the event of a request that is aborted by a stop of the server, by either protocol.
func TestEventOfAStop(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		waiting, events := make(chan struct{}), make(chan proxy.Event, 1)
		var log bytes.Buffer
		w := newWorld(t, func(c *proxy.Config) {
			c.Resolver = resolver.Func(func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
				close(waiting)
				<-ctx.Done()
				return resolver.Answer{}, context.Cause(ctx)
			})
			c.Observe, c.Log = func(e *proxy.Event) { events <- *e }, slog.New(slog.NewTextHandler(&log, nil))
		})
		e := newEngine(w.Handler, certificate(t), nil)
		e.listen.ShutdownTimeout = time.Millisecond
		addr, stop := e.serve(t)
		client := (&server{addr: addr}).client2(t, "a")
		client.Protocols.SetHTTP1(protocol == "http/1.1")
		client.Protocols.SetHTTP2(protocol == "h2")
		client.DialTLSContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}}
			return dialer.DialContext(ctx, "tcp", addr)
		}
		answered := make(chan error, 1)
		go func() {
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a"+cachedName, nil)
			response, err := client.RoundTrip(request)
			if err == nil {
				response.Body.Close()
			}
			answered <- err
		}()
		<-waiting
		if err := stop(); err == nil {
			t.Errorf("%s: no request was cut off", protocol)
		}
		if err := <-answered; err == nil {
			t.Errorf("%s: the client got a response", protocol)
		}
		if e := <-events; e.Status != 0 || e.Bytes != 0 || e.Err == nil {
			t.Errorf("%s: %+v", protocol, e)
		}
		if text := log.String(); strings.Contains(text, "request failed") ||
			!strings.Contains(text, `"the server stopped"`) {
			t.Errorf("%s: %s", protocol, text)
		}
	}
}

// A request whose handler panics is observed and answered, and the panic is reported.
func TestEventOfAPanic(t *testing.T) {
	reported := make(chan string, 2)
	w := startObserved(t, func(c *proxy.Config) {
		c.Panicked = func(value any, stack []byte) {
			reported <- fmt.Sprintf("%v %t", value, strings.Contains(string(stack), "TestEventOfAPanic"))
		}
	})
	w.next = func(context.Context, resolver.Query) (resolver.Answer, error) { panic("a bug") }
	response := w.get(t, "/urn:a1:b")
	if body := text(t, response); response.StatusCode != http.StatusInternalServerError ||
		strings.Contains(body, "bug") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
	if e := w.event(t); e.Form != "path" || e.Status != http.StatusInternalServerError || e.Err == nil {
		t.Errorf("%+v", e)
	}
	if got := <-reported; got != "a bug true" || len(reported) != 0 {
		t.Errorf("reported: %s, and %d more", got, len(reported))
	}
}

// Interim responses are not recorded; a protocol switch is.
func TestEventsOfTheForwardProxy(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn,
				"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			return
		}
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "body")
	}))
	defer web.Close()
	w := startObserved(t, nil)
	client := http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: w.addr}),
		DisableKeepAlives: true,
	}}
	response, err := client.Get(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, response); got != "body" {
		t.Errorf("%d %q", response.StatusCode, got)
	}
	if e := w.event(t); e.Status != 200 || e.Form != "forward" || e.Bytes != 4 {
		t.Errorf("%+v", e)
	}
	response = w.get(t, web.URL+"/", "Connection: Upgrade", "Upgrade: echo")
	if e := w.event(t); e.Status != 101 || response.StatusCode != 101 {
		t.Errorf("%d: %+v", response.StatusCode, e)
	}
}

// The client of an event is the one that a trusted proxy names.
func TestEventClients(t *testing.T) {
	w := startObserved(t, func(c *proxy.Config) { c.Access.Trusted = []netip.Prefix{loopback} })
	for field, want := range map[string]string{
		"X-Forwarded-For: 198.51.100.7": "198.51.100.7", "Forwarded: for=\"[2001:db8::1]:80\"": "2001:db8::1",
		"X-Forwarded-For: unknown": "127.0.0.1",
	} {
		w.get(t, "/urn:a1:b", field)
		if e := w.event(t); e.Client.String() != want {
			t.Errorf("%s: %s", field, e.Client)
		}
	}
}
