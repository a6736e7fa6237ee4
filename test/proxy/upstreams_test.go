//go:build e2e

package proxy

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestUpstreams checks that requests use the first upstream proxy whose hosts match, with the credentials in
// its file, and that a proxy that rejects them is reported as a gateway error.
func TestUpstreams(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "origin ", r.Header.Get("Via") != "")
	}))
	defer origin.Close()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("urnd:secret"))
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Proxy-Authorization") != want:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			w.WriteHeader(http.StatusForbidden)
		default:
			fmt.Fprint(w, "upstream ", r.RequestURI)
		}
	}))
	defer upstream.Close()
	socks := startSOCKS(t, strings.TrimPrefix(origin.URL, "http://"))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	directory := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		c.Proxy.Upstreams = []config.Upstream{
			{Hosts: []string{"127.0.0.0/8"}, Proxies: []string{"direct"}},
			{
				Hosts: []string{".socks.example"}, Proxies: []string{"socks5://" + socks}, User: "urnd",
				Password: file("right", "secret\n"),
			},
			{
				Hosts: []string{"wrong.socks.example.org"}, Proxies: []string{"socks5://" + socks}, User: "urnd",
				Password: file("wrong", "guess"),
			},
			{
				Hosts: []string{"wrong.example"}, Proxies: []string{upstream.URL}, User: "urnd",
				Password: file("guess", "guess"),
			},
			{
				Hosts:   []string{".failover.example"},
				Proxies: []string{"http://" + closed.Addr().String(), upstream.URL}, User: "urnd",
				Password: file("both", "secret"),
			},
			{Hosts: []string{"closed.example"}, Proxies: []string{"http://" + closed.Addr().String()}},
			{Proxies: []string{upstream.URL}, User: "urnd", Password: file("password", "secret")},
		}
	})
	for _, tt := range []struct {
		request string
		status  int
		message string
		kind    string
	}{
		{"GET " + origin.URL + "/", 200, "origin true", ""},
		{"GET http://a.socks.example/", 200, "origin true", ""},
		{"GET http://any.example/a?b", 200, "upstream http://any.example/a?b", ""},
		{"GET http://a.failover.example/", 200, "upstream http://a.failover.example/", ""},
		{
			"CONNECT a.failover.example:443", 502, "upstream proxy did not connect to the server",
			"destination_unavailable",
		},
		{"GET http://wrong.example/", 502, "upstream proxy did not connect to the server", "destination_unavailable"},
		{
			"GET http://wrong.socks.example.org/", 502, "upstream proxy did not connect to the server",
			"destination_unavailable",
		},
		{"GET http://closed.example/", 502, "upstream proxy did not connect to the server", "connection_refused"},
		{"CONNECT any.example:443", 502, "upstream proxy did not connect to the server", "destination_unavailable"},
	} {
		conn, err := net.Dial("tcp", at(d.URL))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", tt.request)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		status := response.Header.Get("Proxy-Status")
		if err != nil || response.StatusCode != tt.status || !strings.Contains(string(body), tt.message) ||
			tt.kind != "" && !strings.HasPrefix(status,
				"urnd; error="+tt.kind+";") {
			t.Errorf("%s: %d %s, %s", tt.request, response.StatusCode, body, status)
		}
		for _, secret := range []string{"secret", "guess"} {
			if strings.Contains(string(body)+status+d.Log(), secret) {
				t.Errorf("%s: a password is shown", tt.request)
			}
		}
		conn.Close()
	}
}

// startSOCKS starts a SOCKS 5 server (RFC 1928, RFC 1929) that connects every request to one address.
func startSOCKS(t *testing.T, to string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSOCKS(conn, to)
		}
	}()
	return listener.Addr().String()
}

func serveSOCKS(conn net.Conn, to string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	counted := func() string { // length-prefixed bytes
		n, _ := in.ReadByte()
		b := make([]byte, n)
		_, _ = io.ReadFull(in, b)
		return string(b)
	}
	_, _ = in.Discard(1)
	counted()
	_, _ = conn.Write([]byte{5, 2}) // by user and password
	_, _ = in.Discard(1)
	if user, password := counted(), counted(); user != "urnd" || password != "secret" {
		_, _ = conn.Write([]byte{1, 1})
		return
	}
	_, _ = conn.Write([]byte{1, 0})
	_, _ = in.Discard(4) // to a name
	counted()
	_, _ = in.Discard(2)
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	go func() { _, _ = io.Copy(server, in) }()
	_, _ = io.Copy(conn, server)
}
