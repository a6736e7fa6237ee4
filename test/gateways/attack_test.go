//go:build e2e

package gateways

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// victim is a server on loopback that no gateway may reach.
type victim struct {
	port      int
	connected atomic.Int64
}

func startVictim(t *testing.T) *victim {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{port: listener.Addr().(*net.TCPAddr).Port}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			v.connected.Add(1)
			conn.Close()
		}
	})
	t.Cleanup(func() {
		listener.Close()
		accepting.Wait()
	})
	return v
}

// TestGatewayAttacks: RFC 1738 section 6 warns of URLs that make a client speak another protocol, such as
// gopher URLs that send mail. urnd must send nothing of that, neither as a proxy nor by /fetch.
func TestGatewayAttacks(t *testing.T) {
	t.Parallel()
	v, denied := startVictim(t), startVictim(t)
	d := urndtest.Start(t, "127.0.0.1:9", func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Gateways.DenyPorts = append(c.Gateways.DenyPorts,
			config.PortRange{First: uint16(denied.port), Last: uint16(denied.port)})
	})
	at := func(v *victim) string { return "127.0.0.1:" + strconv.Itoa(v.port) }
	const mail = "HELO%20a%0D%0AMAIL%20FROM:%3Ca@b%3E%0D%0ARCPT%20TO:%3Cc@d%3E%0D%0ADATA%0D%0AHello%0D%0A.%0D%0AQUIT%0D%0A"
	for _, tt := range []struct {
		method, uri string
		status      int
		has         string
	}{
		{"GET", "gopher://127.0.0.1:25/0HELO", 403, "port not allowed"},
		{"GET", "gopher://127.0.0.1:25/0" + mail, 400, ""},
		{"HEAD", "gopher://127.0.0.1:25/0HELO", 403, ""},
		{"GET", "gopher://" + at(denied) + "/0HELO", 403, "servers of another protocol"},
		{"GET", "ftp://" + at(denied) + "/a", 403, "servers of another protocol"},
		{"GET", "nntp://127.0.0.1:25/a/1", 403, "port not allowed"},
		{"GET", "wais://127.0.0.1:25/a", 403, "port not allowed"},
		{"GET", "ftp://127.0.0.1:25/a", 403, "port not allowed"},
		{"GET", "gopher://" + at(v) + "/0" + mail, 400, ""},
		{"GET", "gopher://" + at(v) + "/0a%0Ab", 400, ""},
		{"GET", "gopher://" + at(v) + "/0a%0Db", 400, ""},
		{"GET", "gopher://" + at(v) + "/0a%00b", 400, ""},
		{"GET", "gopher://" + at(v) + "/7a%09b%0D%0Ac", 400, ""},
		{"GET", "ftp://" + at(v) + "/a%0D%0ADELE%20b", 400, ""},
		{"GET", "ftp://" + at(v) + "/a%0Ab/c", 400, ""},
		{"GET", "ftp://a%0D%0ADELE%20b@" + at(v) + "/", 400, ""},
		{"GET", "ftp://a:b%0D%0ADELE%20b@" + at(v) + "/", 400, ""},
		{"GET", "nntp://" + at(v) + "/a%0D%0APOST/1", 400, ""},
		{"GET", "file:///etc/passwd", 403, "file: scheme disabled"},
		{"GET", "file://localhost/etc/passwd", 403, "file: scheme disabled"},
		{"PUT", "ftp://" + at(v) + "/a", 501, "only GET and HEAD"},
		{"DELETE", "ftp://" + at(v) + "/a", 501, "only GET and HEAD"},
		{"POST", "gopher://" + at(v) + "/7a", 501, "only GET and HEAD"},
		{"PUT", "file:///a", 501, "only GET and HEAD"},
	} {
		targets := []string{tt.uri}
		if tt.method == "GET" {
			targets = append(targets, "/fetch?uri="+url.QueryEscape(tt.uri))
		}
		for _, target := range targets {
			got := d.Exchange(t, tt.method+" "+target)
			if got.Status != tt.status || !strings.Contains(got.Body, tt.has) {
				t.Errorf("%s %s: want %d with %q: %+v", tt.method, target, tt.status, tt.has, got)
			}
		}
	}
	if n := v.connected.Load() + denied.connected.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}
