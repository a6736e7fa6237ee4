package proxy_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
)

// certificate returns the certificate of httptest, for example.com and 127.0.0.1.
func certificate(t testing.TB) *tls.Config {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates}
}

// client2 is an HTTP/2 client of the proxy: each request is sent to the proxy, whatever host it names.
func (s *server) client2(t testing.TB, name string) *http.Transport {
	t.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		dialer := tls.Dialer{Config: &tls.Config{
			ServerName: name, InsecureSkipVerify: true,
			NextProtos: []string{"h2"},
		}}
		return dialer.DialContext(ctx, "tcp", s.addr)
	}
	transport := &http.Transport{
		DisableCompression: true, DialContext: dial, DialTLSContext: dial,
		Protocols: new(http.Protocols),
	}
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func (s *server) ask2(
	t testing.TB, method, target string, body io.Reader, change func(*http.Request),
) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testserver.Timeout)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	response, err := s.client2(t, "proxy.example").RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, target, err)
	}
	return response, string(got)
}

// By HTTP/2 a proxy gets the target URI in several pseudo-header fields (RFC 9113 section 8.3.1).
func TestForwardByHTTP2(t *testing.T) {
	o := answering(t, func(request string) string {
		if strings.HasPrefix(request, "GET /trailers ") {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\nok\r\n0\r\nX-T: " +
				"1\r\nX-U: 2\r\n\r\n"
		}
		return "HTTP/1.1 299 Odd\r\nConnection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok"
	})
	s := startOn(t, certificate(t), nil)
	response, body := s.ask2(t, "GET", "http://"+strings.Replace(o.addr, "127.0.0.1", "localhost", 1)+"/%7ea//b/../c?q",
		nil, nil)
	if response.StatusCode != 299 || body != "ok" || response.Header.Get("X-Hop") != "" ||
		response.Header.Get("Via") != "1.1 urnd" {
		t.Errorf("%d %v %q", response.StatusCode, response.Header, body)
	}
	_, port, _ := net.SplitHostPort(o.addr)
	if got, _, _ := strings.Cut(o.last(), "\r\n\r\n"); !strings.HasPrefix(got,
		"GET /~a//c?q HTTP/1.1\r\nHost: localhost:"+port+"\r\n") {
		t.Errorf("%q", got)
	}
	host := "http://localhost:" + port
	s.ask2(t, "POST", host+"/", strings.NewReader("body"), nil)
	if got := dechunk(o.last()); got != "body" || fmt.Sprint(field(o.last(), "Content-Length")) != "[4]" {
		t.Errorf("a body with a length: %q", o.last())
	}
	s.ask2(t, "POST", host+"/", io.MultiReader(strings.NewReader("body")), func(r *http.Request) {
		r.Trailer = http.Header{"X-Up": {"1"}}
	})
	if got := dechunk(o.last()); got != "body|x-up: 1" {
		t.Errorf("trailers of a request: %q", o.last())
	}
	response, _ = s.ask2(t, "GET", host+"/trailers", nil, nil)
	if response.Trailer.Get("X-T") != "1" || response.Trailer.Get("X-U") != "2" {
		t.Errorf("trailers of a response: %v", response.Trailer)
	}
}

// Requests for urnd itself are not forwarded, nor those that are not allowed.
func TestOwnByHTTP2(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	s := startOn(t, certificate(t), nil)
	for target, status := range map[string]int{
		"https://a/urn:ietf:rfc:2648":              302, // one of its own names
		"https://127.0.0.1/urn:ietf:rfc:2648":      302,
		"https://" + s.addr + "/urn:ietf:rfc:2648": 302,
		"https://proxy.example/urn:ietf:rfc:2648":  403, // the name of the certificate, but not one of its own
	} {
		if response, _ := s.ask2(t, "GET", target, nil, nil); response.StatusCode != status {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
	s = startOn(t, certificate(t), func(c *proxy.Config) { c.Access.Proxy = nil })
	for _, method := range []string{"GET", "CONNECT"} {
		response, _ := s.ask2(t, method, "http://localtest:1/", nil, nil)
		if response.StatusCode != 403 {
			t.Errorf("%s of a stranger: %d", method, response.StatusCode)
		}
	}
	if len(o.requests()) > 0 {
		t.Errorf("the origin was asked: %q", o.requests())
	}
}

// A response that the origin aborts resets its stream, and other streams continue (RFC 9113 section 8.1).
func TestBreakOffByHTTP2(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nhalf")
	_, port, _ := net.SplitHostPort(o.addr)
	s := startOn(t, certificate(t), nil)
	transport := s.client2(t, "proxy.example")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:"+port+"/", nil)
			if err != nil {
				t.Error(err)
				return
			}
			response, err := transport.RoundTrip(r)
			if err != nil {
				return // the stream was reset
			}
			defer response.Body.Close()
			if got, err := io.ReadAll(response.Body); err == nil {
				t.Errorf("it looks whole: %.80q", got)
			}
		})
	}
	all.Wait()
}

// A body that stalls ends its stream, and no other.
func TestSlowBodyByHTTP2(t *testing.T) {
	o := answering(t, func(string) string { return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" })
	_, port, _ := net.SplitHostPort(o.addr)
	s := startOn(t, certificate(t), nil)
	stalled, write := io.Pipe()
	defer write.Close()
	go func() { _, _ = io.WriteString(write, "half") }()
	response, body := s.ask2(t, "POST", "http://localhost:"+port+"/", stalled, nil)
	if response.StatusCode != http.StatusRequestTimeout || !strings.Contains(body, "limits.body_timeout") {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

// A tunnel on a stream (RFC 9113 section 8.5). It ends with its server; an idle direction does not end the other one.
func TestConnectByHTTP2(t *testing.T) {
	var clock idleClock
	o := echoing(t)
	pauses, read := pausing(t, &clock)
	var bytes []int64
	var mu sync.Mutex
	s := startOn(t, certificate(t), func(c *proxy.Config) {
		c.Now, c.Forward.TunnelIdle = clock.look, tunnelIdle
		c.Observe = func(e *proxy.Event) {
			mu.Lock()
			defer mu.Unlock()
			bytes = append(bytes, e.Bytes)
		}
	})
	transport := s.client2(t, "proxy.example")
	open := func(target string) (io.WriteCloser, *http.Response) {
		t.Helper()
		body, write := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), testserver.Timeout)
		t.Cleanup(cancel)
		r := (&http.Request{
			Method: http.MethodConnect, URL: &url.URL{Scheme: "https", Host: target}, Host: target,
			Header: http.Header{},
			Body:   body,
		}).WithContext(ctx)
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return write, response
	}
	write, response := open(o.addr)
	if response.StatusCode != 200 || response.Header.Get("Via") != "1.1 urnd" {
		t.Fatalf("%d %v", response.StatusCode, response.Header)
	}
	_, _ = io.WriteString(write, "hello ")
	write.Close()
	if got, err := io.ReadAll(response.Body); string(got) != "hello bye" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	write, response = open(pauses.addr)
	defer write.Close()
	read(response.Body)
	if got, err := io.ReadAll(response.Body); string(got) != "end" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	silent, response := open(o.addr)
	defer silent.Close()
	if got, _ := clock.idle(t, response.Body); got != "" && got != "bye" {
		t.Errorf("%q", got)
	}
	testserver.Wait(t, "the tunnels are observed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(bytes) == 3 && bytes[0] == 9 && bytes[1] == 13
	})
	for _, target := range []string{"localhost", "localhost:0"} {
		if _, response := open(target); response.StatusCode != 400 {
			t.Errorf("%s: %d", target, response.StatusCode)
		}
	}
}
