package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

// Proxy-Status states the cause of a failure, caused here by real connections (RFC 9209 section 2.3).
func TestProxyStatus(t *testing.T) {
	message := func(data string) string {
		return listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
			if _, err := readMessage(in); err == nil {
				_, _ = io.WriteString(c, data)
			}
		}).addr
	}
	hangs := listenRaw(t, func(_ *peer, _ net.Conn, in *bufio.Reader) { _, _ = io.Copy(io.Discard, in) }).addr
	resets := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		_, _ = readMessage(in)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}).addr
	untrusted := certificate(t)
	alerts := certificate(t)
	alerts.ClientAuth = tls.RequireAnyClientCert
	alerts.MaxVersion = tls.VersionTLS12 // with TLS 1.3 the alert comes after the handshake
	secure := func(config *tls.Config) string {
		return listenRaw(t, func(_ *peer, c net.Conn, _ *bufio.Reader) {
			server := tls.Server(c, config)
			_ = server.Handshake()
			_, _ = io.Copy(io.Discard, server)
		}).addr
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refuses := closed.Addr().String()
	closed.Close()
	lookup := func(ctx context.Context, host string) ([]netip.Addr, error) {
		switch strings.TrimSuffix(host, ".") {
		case "slow.example":
			<-ctx.Done()
			return nil, ctx.Err()
		case "inner.example":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	guard := netguard.New(300*time.Millisecond, loopback).WithLookup(lookup)
	web := schemehttp.New(schemehttp.Config{
		Dial: guard.DialContext, HeaderTimeout: 300 * time.Millisecond,
		Now: time.Now,
	})
	trusting := schemehttp.New(schemehttp.Config{
		Dial: guard.DialContext, HeaderTimeout: 300 * time.Millisecond, Now: time.Now,
		TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12},
	})
	t.Cleanup(web.Close)
	t.Cleanup(trusting.Close)
	busy := make(quota.Semaphore, 1)
	s := start(t, func(c *proxy.Config) {
		c.Fetch = scheme.Mux{"http": web, "https": web}
		c.Forward.Tunnel = tunnelBy(web)
	})
	lenient := start(t, func(c *proxy.Config) { c.Fetch = scheme.Mux{"https": trusting} })
	full := start(t, func(c *proxy.Config) {
		c.Forward.Fetches = quota.Limit{Semaphore: busy, Busy: problem.ErrTooManyFetches}
	})
	busy <- struct{}{}
	for _, tt := range []struct {
		name    string
		of      *server
		request string
		status  int
		kind    string
	}{
		{"no such host", s, "GET http://missing.example/", 502, "dns_error"},
		{"a slow lookup", s, "GET http://slow.example/", 504, "dns_timeout"},
		{"an inner address", s, "GET http://inner.example/", 403, "destination_ip_prohibited"},
		{"a literal inner address", s, "GET http://10.0.0.1/", 403, "destination_ip_prohibited"},
		{"that of IPv6", s, "GET http://[::1]:1/", 403, "destination_ip_prohibited"},
		{"metadata of a cloud", s, "GET http://169.254.169.254/latest/meta-data/", 403, "destination_ip_prohibited"},
		{"refused", s, "GET http://" + refuses + "/", 502, "connection_refused"},
		{"refused tunnel", s, "CONNECT " + refuses, 502, "connection_refused"},
		{"tunnel to no host", s, "CONNECT missing.example:443", 502, "dns_error"},
		{"closed", s, "GET http://" + message("") + "/", 502, "connection_terminated"},
		{"reset", s, "GET http://" + resets + "/", 502, "connection_terminated"},
		{
			"half a head", s, "GET http://" + message("HTTP/1.1 200 OK\r\nA: b\r\n") + "/", 502,
			"http_response_incomplete",
		},
		{"no answer", s, "GET http://" + hangs + "/", 504, "http_response_timeout"},
		{"nonsense", s, "GET http://" + message("nonsense\r\n\r\n") + "/", 502, "http_protocol_error"},
		{
			"two lengths", s,
			"GET http://" + message("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab") +
				"/", 502, "http_protocol_error",
		},
		{
			"length and chunks", s,
			"GET http://" +
				message("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") + "/",
			502,
			"http_protocol_error",
		},
		{
			"unrequested 304", s, "GET http://" + message("HTTP/1.1 304 Not Modified\r\n\r\n") + "/", 502,
			"http_protocol_error",
		},
		{"not TLS", lenient, "GET https://" + listenRaw(t, func(_ *peer, c net.Conn, _ *bufio.Reader) {
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
		}).addr + "/", 502, "tls_protocol_error"},
		{"a certificate of nobody", s, "GET https://" + secure(untrusted) + "/", 502, "tls_certificate_error"},
		{"an alert", lenient, "GET https://" + secure(alerts) + "/", 502, "tls_alert_received"},
		{"no more fetches", full, "GET http://" + refuses + "/", 503, "connection_limit_reached"},
		{"no such scheme", s, "GET gopher://" + refuses + "/", 501, "proxy_configuration_error"},
		{"a user", s, "GET http://a@" + refuses + "/", 400, "http_request_error"},
		{"a port that is none", s, "GET http://127.0.0.1:99999/", 400, "http_request_error"},
		{"a port that is none, of no scheme", s, "GET htp://127.0.0.1:483049/", 400, "http_request_error"},
		{"no host", s, "GET http:///", 400, "http_request_error"},
	} {
		answer, _ := tt.of.bytes(t, tt.request+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		got := strings.Join(field(answer, "Proxy-Status"), " | ")
		if !strings.HasPrefix(answer, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) ||
			!strings.HasPrefix(tt.request, "CONNECT") && !strings.Contains(answer, `"detail"`) ||
			!strings.HasPrefix(got, "urnd; error="+tt.kind+"; details=\"") {
			line, _, _ := strings.Cut(answer, "\r\n")
			t.Errorf("%s: %q, %s", tt.name, line, got)
		}
	}
	// The origin's own errors are forwarded.
	for _, answer := range []string{
		"HTTP/1.1 502 Mine\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 502 Mine\r\nProxy-Status: other; error=dns_error\r\nContent-Length: 0\r\n\r\n",
	} {
		got, _ := s.bytes(t, "GET http://"+message(answer)+"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 502 Mine\r\n") ||
			fmt.Sprint(field(got, "Proxy-Status")) != fmt.Sprint(field(answer, "Proxy-Status")) {
			t.Errorf("%q", got)
		}
	}
}
