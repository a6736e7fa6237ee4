package listen_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// certificates returns the configuration of a server with a certificate, and the pool that trusts it.
func certificates(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	made := httptest.NewTLSServer(nil)
	defer made.Close()
	pair := made.TLS.Certificates[0]
	pool := x509.NewCertPool()
	pool.AddCert(made.Certificate())
	return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }}, pool
}

// serveTLS answers requests with the state of TLS.
func serveTLS(t testing.TB, change func(*listen.ServerConfig)) (addr string, pool *x509.CertPool) {
	t.Helper()
	own, pool := certificates(t)
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.TLS = own
		c.Serve = lines(func(c *listen.Conn, _ string) string {
			protocol, err := c.Handshake()
			state := c.TLS()
			complete := state != nil && state.HandshakeComplete
			return fmt.Sprintf("%s %v %t %s %t", protocol, err, c.Secure(), c.ServerName(), complete)
		})
		if change != nil {
			change(c)
		}
	})
	return listener.Addr().String(), pool
}

// dialTLS returns a client with TLS that trusts the certificate.
func dialTLS(t testing.TB, addr string, pool *x509.CertPool, protocols ...string) *caller {
	t.Helper()
	config := &tls.Config{RootCAs: pool, ServerName: "example.com", NextProtos: protocols}
	return newCaller(tls.Client(call(t, addr, "127.0.0.1").Conn, config))
}

// ALPN selects the protocol: RFC 7301.
func TestHandshake(t *testing.T) {
	addr, pool := serveTLS(t, nil)
	only, onlyPool := serveTLS(t, func(c *listen.ServerConfig) { c.DisableHTTP2 = true })
	for _, tt := range []struct {
		addr      string
		pool      *x509.CertPool
		protocols []string
		want      string
	}{
		{addr, pool, nil, "http/1.1"},
		{addr, pool, []string{"http/1.1"}, "http/1.1"},
		{addr, pool, []string{"h2"}, "h2"},
		{addr, pool, []string{"http/1.1", "h2"}, "h2"},
		{only, onlyPool, []string{"http/1.1", "h2"}, "http/1.1"},
	} {
		c := dialTLS(t, tt.addr, tt.pool, tt.protocols...)
		for range 2 {
			c.send(t, "a\n")
			c.expect(t, tt.want+" <nil> true example.com true")
		}
	}
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Serve = lines(func(c *listen.Conn, _ string) string {
			protocol, err := c.Handshake()
			return fmt.Sprintf("%q %v %t %q %t", protocol, err, c.Secure(), c.ServerName(), c.TLS() == nil)
		})
	})
	c := call(t, listener.Addr().String(), "127.0.0.1")
	c.send(t, "a\n")
	c.expect(t, `"" <nil> false "" true`)
}

// RFC 8996: TLS 1.0 and 1.1 must not be used.
func TestTLSVersions(t *testing.T) {
	addr, pool := serveTLS(t, nil)
	for version, spoken := range map[uint16]bool{
		tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true,
	} {
		conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: pool, MinVersion: version, MaxVersion: version})
		switch {
		case spoken != (err == nil), !spoken && !strings.Contains(err.Error(), "remote error: tls: protocol version"):
			t.Errorf("%s: %v", tls.VersionName(version), err)
		case spoken:
			conn.Close()
		}
	}
}

// A client of HTTP in clear text can get a response, and reads it completely, although it is still sending.
func TestPlainHTTP(t *testing.T) {
	addr, _ := serveTLS(t, nil)
	for _, request := range []string{"GET / HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n", "CONNECT a:1 HTTP/1.1\r\n"} {
		c := call(t, addr, "127.0.0.1")
		c.send(t, request+strings.Repeat("x", 1<<18))
		c.expect(t, "no TLS")
		c.expectEnd(t)
	}
	c := call(t, addr, "127.0.0.1")
	c.send(t, "whatever else it is")
	if got, err := c.in.Peek(7); err == nil && string(got) == "no TLS\n" {
		t.Errorf("%q", got)
	}
}

// GetCertificate is called for each connection: the certificate may have changed.
func TestTLSCertificates(t *testing.T) {
	var requested atomic.Int64
	addr, pool := serveTLS(t, func(c *listen.ServerConfig) {
		get := c.TLS.GetCertificate
		c.TLS.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if requested.Add(1) == 2 {
				return nil, errors.New("it is being written")
			}
			return get(hello)
		}
	})
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

// A client that does not complete the handshake is cut off at the header timeout, and does not delay others.
// The handshake and the first header section share it.
func TestTLSSlowly(t *testing.T) {
	addr, pool := serveTLS(t, func(c *listen.ServerConfig) { c.ReadHeaderTimeout = 200 * time.Millisecond })
	slow := call(t, addr, "127.0.0.1")
	slow.send(t, "\x16\x03\x01")
	silent := dialTLS(t, addr, pool)
	if err := silent.Conn.(*tls.Conn).Handshake(); err != nil {
		t.Fatal(err)
	}
	quick := dialTLS(t, addr, pool)
	quick.send(t, "a\n")
	quick.expect(t, "http/1.1 <nil> true example.com true")
	slow.expectEnd(t)
	silent.expectEnd(t)
}

// One server may have several sockets, such as those of systemd for IPv4 and IPv6.
func TestTLSOnSeveralSockets(t *testing.T) {
	own, pool := certificates(t)
	first := start(t, localListener(t), func(c *listen.ServerConfig) { c.TLS = own })
	ended := make(chan error)
	addrs := []string{first.addr}
	var others []net.Listener
	for range 3 {
		listener := localListener(t)
		others, addrs = append(others, listener), append(addrs, listener.Addr().String())
		go func() { ended <- first.Serve(t.Context(), listener) }()
	}
	for _, addr := range addrs {
		c := dialTLS(t, addr, pool, "h2")
		c.send(t, "a\n")
		c.expect(t, "a")
	}
	first.end()
	if err := <-first.ended; err != nil {
		t.Error(err)
	}
	for _, listener := range others { // each ends independently
		_ = listener.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}
