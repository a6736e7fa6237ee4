package listen_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/listen"
)

const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// RFC 9110 section 15.6.6: versions that are not spoken are 505; RFC 9112 section 6.1: a coding that is not known is 501, and
// section 6.3: a body of which chunked is not the last coding is 400.
func TestUnsupported(t *testing.T) {
	own, pool := certificates(t)
	plain, secure := localListener(t), localListener(t)
	serve(t, plain, func(*listen.ServerConfig) {})
	serve(t, secure, func(c *listen.ServerConfig) { c.TLS = own })
	const get, post = "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	for _, tt := range []struct {
		request  string
		statuses []int
	}{
		{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", []int{505}},
		{"GET / HTTP/3.0\r\nHost: a\r\n\r\n", []int{505}},
		{http2Preface, []int{505}},
		{get + http2Preface, []int{200, 505}},
		{post + "chunked, gzip\r\n\r\n0\r\n\r\n", []int{400}},
		{post + "gzip\r\n\r\n", []int{400}},
		{post + "gzip, Chunked \r\n\r\n0\r\n\r\n", []int{501}},
		{post + strings.Repeat("gzip, ", 100) + "chunked\r\n\r\n0\r\n\r\n", []int{400}}, // not looked at any further
	} {
		for _, listener := range []string{plain.Addr().String(), secure.Addr().String()} {
			c := call(t, listener, "127.0.0.1")
			if listener == secure.Addr().String() {
				c = newCaller(tls.Client(c.Conn, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}))
			}
			c.send(t, tt.request)
			for i, status := range tt.statuses {
				response, err := http.ReadResponse(c.in, nil)
				if err != nil {
					t.Errorf("%.60q: response %d: %v", tt.request, i, err)
					break
				}
				body, _ := io.ReadAll(response.Body)
				if response.StatusCode != status || status >= 400 && (response.Header.Get("Content-Type") != "application/problem+json" || !response.Close) {
					t.Errorf("%.60q: %d %v %s, want %d", tt.request, response.StatusCode, response.Header, body, status)
				}
			}
		}
	}
}

// RFC 9113 section 3.2: by TLS the version is what ALPN has chosen.
func TestVersionOfALPN(t *testing.T) {
	own, pool := certificates(t)
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) { c.TLS = own })
	for _, tt := range []struct {
		protocols []string
		request   string
		begins    string // the response; "" for none
	}{
		{nil, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 "},
		{[]string{"http/1.1"}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 "},
		{[]string{"http/1.1"}, http2Preface, "HTTP/1.1 505 "},
		{nil, http2Preface, "HTTP/1.1 505 "},
		{[]string{"h2"}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""},
		{[]string{"h2"}, http2Preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00"},
	} {
		for _, step := range []int{len(tt.request), 1} {
			conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: pool, NextProtos: tt.protocols})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			for rest := tt.request; rest != "" && err == nil; rest = rest[step:] {
				_, err = io.WriteString(conn, rest[:step])
			}
			got := make([]byte, len(tt.begins))
			_, err = io.ReadFull(bufio.NewReader(conn), got)
			if string(got) != tt.begins {
				t.Errorf("%q, %.20q in parts of %d: %q, %v", tt.protocols, tt.request, step, got, err)
			}
			if tt.begins != "" {
				continue
			}
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("%q, %.20q in parts of %d: the connection goes on", tt.protocols, tt.request, step)
			}
		}
	}
}
