package listen_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/listen"
)

// certificates returns the configuration of a server with a certificate, and the pool that
// trusts it.
func certificates(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	made := httptest.NewTLSServer(nil)
	defer made.Close()
	pair := made.TLS.Certificates[0]
	pool := x509.NewCertPool()
	pool.AddCert(made.Certificate())
	return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }}, pool
}

func serveTLS(t testing.TB, own *tls.Config) string {
	t.Helper()
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler, c.TLS = newHandler(t, gate.Access{Resolve: prefixes("127.0.0.0/8"), Proxy: prefixes("127.0.0.0/8")}), own
	})
	return listener.Addr().String()
}

// client uses one version of HTTP, and does not follow redirects.
func client(t testing.TB, pool *x509.CertPool, h2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		DialContext: new(net.Dialer).DialContext, TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestTLS(t *testing.T) {
	own, pool := certificates(t)
	addr := serveTLS(t, own)
	for proto, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		c := client(t, pool, h2)
		for _, tt := range []struct {
			method, target string
			status         int
		}{
			{"GET", "/urn:example:a", 302},
			{"HEAD", "/urn:example:a", 302},
			{"GET", "/?uri=urn:example:a", 302},
			{"GET", "/uri-res/N2L?urn:example:a", 303},
			{"GET", "/uri-res/N2L?urn:example:a//b/../c", 303},
			{"GET", "/api/v1/resolve?uri=urn:example:a", 200},
			{"GET", "/http://a.example/", 302},
			{"GET", "/nothing", 404},
			{"POST", "/urn:example:a", 405},
			{"GET", "/urn:example:" + strings.Repeat("a", maxTarget), 414},
			{"GET", "/", 200},
		} {
			r, err := http.NewRequest(tt.method, "https://"+addr+tt.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := c.Do(r)
			if err != nil {
				t.Errorf("%s %.40s by %s: %v", tt.method, tt.target, proto, err)
				continue
			}
			response.Body.Close()
			location := response.Header.Get("Location")
			if response.Proto != proto || response.StatusCode != tt.status || (location == "https://a.example/") != (tt.status/100 == 3) {
				t.Errorf("%s %.40s by %s: %s %d %q", tt.method, tt.target, proto, response.Proto, response.StatusCode, location)
			}
		}
	}
}

// RFC 8996: TLS 1.0 and 1.1 must not be used.
// HTTP/2 is spoken only where it is offered.
func TestTLSWithoutHTTP2(t *testing.T) {
	own, pool := certificates(t)
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) { c.TLS, c.HTTP1 = own, true })
	response, err := client(t, pool, true).Get("https://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.Proto != "HTTP/1.1" {
		t.Error(response.Proto)
	}
	conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := newCaller(conn)
	c.send(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if line, err := c.in.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 ") {
		t.Errorf("without being offered: %q, %v", line, err)
	}
}

func TestTLSVersions(t *testing.T) {
	own, pool := certificates(t)
	addr := serveTLS(t, own)
	for version, spoken := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version})
		switch {
		case spoken != (err == nil), !spoken && !strings.Contains(err.Error(), "remote error: tls: protocol version"):
			t.Errorf("%s: %v", tls.VersionName(version), err)
		case spoken:
			conn.Close()
		}
	}
	plain := call(t, addr, "127.0.0.1")
	plain.send(t, request)
	plain.served(t, http.StatusBadRequest)
}

// GetCertificate is called for each connection: the certificate may have changed.
func TestTLSCertificates(t *testing.T) {
	own, pool := certificates(t)
	get, asked := own.GetCertificate, atomic.Int64{}
	own.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if asked.Add(1) == 2 {
			return nil, errors.New("it is being written")
		}
		return get(hello)
	}
	addr := serveTLS(t, own)
	for i, good := range []bool{true, false, true} {
		conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool})
		if (err == nil) != good {
			t.Errorf("%d. %v", i, err)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// A client without a handshake is cut off at the header timeout, and does not delay others.
func TestTLSSlowly(t *testing.T) {
	own, pool := certificates(t)
	addr := serveBehindBalancer(t, func(c *listen.ServerConfig) {
		c.TLS, c.ProxyProtocol, c.HeaderTimeout = own, nil, 200*time.Millisecond
		c.Handler = newHandler(t, gate.Access{Resolve: prefixes("127.0.0.0/8")})
	})
	slow := call(t, addr, "127.0.0.1")
	slow.send(t, "\x16\x03\x01")
	quick := newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
	quick.send(t, request)
	quick.served(t, 302)
	if _, err := slow.in.ReadByte(); err == nil || timedOut(err) {
		t.Errorf("%v", err)
	}
}

// One server may have several sockets, as systemd gives them for IPv4 and IPv6.
func TestTLSOnSeveralSockets(t *testing.T) {
	own, pool := certificates(t)
	server := listen.NewServer(listen.ServerConfig{
		Handler: newHandler(t, gate.Access{Resolve: prefixes("127.0.0.0/8")}), Now: time.Now, Log: slog.New(slog.DiscardHandler), Malformed: malformed,
		MaxTarget: maxTarget, MaxHeader: 4096,
		HeaderTimeout: testserver.Patience, IdleTimeout: testserver.Patience, ShutdownTimeout: testserver.Patience, TLS: own,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	var addrs []string
	for range 4 {
		listener := localListener(t)
		addrs = append(addrs, listener.Addr().String())
		go func() { ended <- server.Serve(ctx, listener) }()
	}
	for _, addr := range addrs {
		response, err := client(t, pool, true).Get("https://" + addr + "/urn:example:a")
		if err != nil || response.StatusCode != 302 || response.Proto != "HTTP/2.0" {
			t.Fatalf("%+v, %v", response, err)
		}
		response.Body.Close()
	}
	stop()
	for range addrs {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Refusals of net/http are replaced with TLS, too, and a client of plain HTTP gets the
// reason.
func TestTLSMalformed(t *testing.T) {
	own, pool := certificates(t)
	addr := serveTLS(t, own)
	for _, tt := range []struct {
		secure  bool
		request string
		status  int
		says    string
	}{
		{true, "GET /urn:example:a%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, `"offset": 13`},
		{true, "GET / HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n", 400, "RFC 9112"},
		{true, "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 431, "limits.header"},
		{true, "GET /urn:example:" + strings.Repeat("a", 64<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", 414, "limits.target"},
		{false, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "HTTPS"},
		{false, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "HTTPS"},
	} {
		c := call(t, addr, "127.0.0.1")
		if tt.secure {
			c = newCaller(tls.Client(c.Conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
		}
		_, _ = io.WriteString(c, tt.request) // it may be refused before it is whole
		response, err := http.ReadResponse(c.in, nil)
		if err != nil {
			t.Errorf("%.40q: %v", tt.request, err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		if response.StatusCode != tt.status || response.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(body), tt.says) {
			t.Errorf("%.40q: %d %v %s", tt.request, response.StatusCode, response.Header, body)
		}
	}
}
