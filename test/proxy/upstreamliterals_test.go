//go:build e2e

package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestLiteralsBehindUpstreams checks that upstream proxies are not used for destinations on the proxy itself or
// its link, whatever access.allow_destinations contains, nor for other private networks that it does not
// contain; by HTTP, CONNECT and SOCKS.
func TestLiteralsBehindUpstreams(t *testing.T) {
	t.Parallel()
	var requested atomic.Int32
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requested.Add(1) }))
	defer upstream.Close()
	socks, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := socks.Accept()
			if err != nil {
				return
			}
			requested.Add(1)
			c.Close()
		}
	}()
	defer func() { socks.Close(); <-done }()
	for _, server := range []string{upstream.URL, "socks5://" + socks.Addr().String()} {
		d := urndtest.Start(t, noDNS, func(c *config.Config) {
			urndtest.OpenLoopback(c)
			c.Access.AllowDestinations = append(c.Access.AllowDestinations, netip.MustParsePrefix("169.254.0.0/16"),
				netip.MustParsePrefix("10.1.0.0/16"))
			c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
			c.Proxy.Upstreams = []config.Upstream{{Proxies: []string{server}}}
		})
		for _, host := range []string{
			"127.0.0.1", "127.0.0.1:8080", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]",
			"0.0.0.0", "[::]", "localhost", "LocalHost.", "a.localhost", "10.0.0.1", "192.168.1.1", "[fe80::1]",
			"127.1", "0177.0.0.1", "0x7f000001", "2130706433", "127.0.0.1.", "127.0.0.%31",
		} {
			port := ":80"
			if strings.HasSuffix(host, ":8080") {
				port = ""
			}
			for _, request := range []string{
				"GET http://" + host + "/latest/meta-data/", "POST http://" + host + "/",
				"CONNECT " + host + port,
			} {
				// A URL of another scheme is not forwarded.
				if got := upstreamStatus(t, d.URL, request); got != 403 && got != 400 && got != 405 {
					t.Errorf("%s by %s: %d", request, server, got)
				}
			}
		}
		if n := requested.Load(); n > 0 {
			t.Fatalf("%s was asked %d times", server, n)
		}
		for _, request := range []string{
			"GET http://10.1.0.1/", "GET http://a.example/", "CONNECT 10.1.0.1:443",
			"CONNECT 93.184.215.14:25",
		} {
			if got := upstreamStatus(t, d.URL, request); got == 403 || requested.Swap(0) == 0 {
				t.Errorf("%s by %s: %d", request, server, got)
			}
		}
	}
}

// upstreamStatus returns the status of the response to a request to a proxy.
func upstreamStatus(t *testing.T, base, request string) int {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", request)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
