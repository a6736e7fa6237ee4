//go:build e2e

package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestOneClientLeavesSlots: one client uses as many slow names and slow bodies as possible; another client and
// names of local rules are still served.
func TestOneClientLeavesSlots(t *testing.T) {
	t.Parallel()
	var requested atomic.Int32
	end := make(chan struct{})
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		requested.Add(1)
		if strings.Contains(r.RequestURI, "slow") {
			<-end
		}
		redirect(w, "https://a.example/")
	})
	slow := "http://" + web.addr
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Limits.Requests, c.Limits.Fetches = 8, 8 // two for each client
		c.Namespaces = []config.Namespace{{NID: "book", Order: []string{"thttp"}, THTTP: []string{slow}}}
	})
	var held sync.WaitGroup
	defer held.Wait()
	defer close(end)
	status := func(from, request string) (int, string) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: testserver.Timeout}
		conn, err := dialer.Dial("tcp", at(d.URL))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
			t.Error(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return 0, "" // it ended with the test
		}
		defer response.Body.Close()
		return response.StatusCode, response.Header.Get("Retry-After")
	}
	get := func(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" }
	for _, name := range []string{"a", "b"} {
		body := "POST " + slow + "/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhalf"
		held.Go(func() { status("127.0.0.1", get("/urn:book:slow-"+name)) })
		held.Go(func() { status("127.0.0.1", body) })
	}
	testserver.Wait(t, "all are held", func() bool { return requested.Load() == 4 })
	for _, tt := range []struct {
		from, target string
		status       int
	}{
		{"127.0.0.1", "/urn:book:c", 503},
		{"127.0.0.1", slow + "/", 503},
		{"127.0.0.1", "/urn:ietf:rfc:2648", 302},
		{"127.0.0.2", "/urn:book:c", 302},
		{"127.0.0.2", slow + "/", 302},
		{"127.0.0.1", "/urn:book:c", 302}, // cached now
	} {
		if got, again := status(tt.from, get(tt.target)); got != tt.status || (again != "") != (got == 503) {
			t.Errorf("%s from %s: %d, Retry-After %q", tt.target, tt.from, got, again)
		}
	}
}
