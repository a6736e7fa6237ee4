//go:build e2e

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// noDNS is an address without a DNS server.
const noDNS = "127.0.0.1:9"

// book resolves names of urn:book: to a host.
func book(host string) config.Namespace {
	return config.Namespace{
		NID: "book", Order: []string{"namespace"},
		Targets: []config.Target{{Template: "https://" + host + ".example/{+nss}"}},
	}
}

// reload changes the configuration of urnd, and reports whether it is in force.
func reload(t *testing.T, d *urndtest.Daemon, change func(*config.Config)) bool {
	t.Helper()
	const done = `"msg":"configuration reloaded`
	before := strings.Count(d.Log(), done)
	d.Reload(t, change)
	return strings.Count(d.Log(), done) > before
}

func keep(*config.Config) {}

// at returns the host and port of a URL such as that of urnd.
func at(url string) string { return strings.TrimPrefix(url, "http://") }

// sendAsIs sends a request "METHOD TARGET" unmodified with fields, and returns the response without its body.
func sendAsIs(t *testing.T, d *urndtest.Daemon, request, body string, fields ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", at(d.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(testserver.Timeout)); err != nil {
		t.Fatal(err)
	}
	lines := append([]string{
		request + " HTTP/1.1", "Host: a", "Connection: close",
		fmt.Sprintf("Content-Length: %d", len(body)),
	}, fields...)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response
}

// exchangeBytes sends a request and returns all data received.
func exchangeBytes(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testserver.Timeout))
	_, _ = io.WriteString(conn, request)
	got, _ := io.ReadAll(conn)
	return string(got)
}

// webServer is a scripted HTTP server that counts its requests.
type webServer struct {
	addr     string
	requests atomic.Int32
}

func serveHTTP(t *testing.T, handler http.HandlerFunc) *webServer {
	t.Helper()
	s := &webServer{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	s.addr = h.Listener.Addr().String()
	return s
}

func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusFound)
}

// writeTemp returns the path of a new file.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scraped reads metrics of urnd, summed over the labels that match the pattern.
func scraped(t *testing.T, d *urndtest.Daemon, pattern string) float64 {
	t.Helper()
	sum := 0.0
	for _, found := range regexp.MustCompile("(?m)^"+pattern+" (.*)$").FindAllStringSubmatch(d.Scrape(t), -1) {
		value, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += value
	}
	return sum
}

// collectGarbage makes urnd run a garbage collection.
func collectGarbage(t *testing.T, d *urndtest.Daemon) {
	t.Helper()
	if status, body := d.AdminRequest(t, "GET /debug/pprof/heap?gc=1"); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
}

// waitBelow waits until a metric of urnd is at most most, with garbage collections meanwhile.
func waitBelow(t *testing.T, d *urndtest.Daemon, pattern string, most float64) {
	t.Helper()
	testserver.Wait(t, fmt.Sprintf("%s is at most %.0f", pattern, most), func() bool {
		if scraped(t, d, pattern) <= most {
			return true
		}
		collectGarbage(t, d)
		return false
	})
}

// residentKiB returns the resident memory of a process.
func residentKiB(t *testing.T, pid int) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB$`).FindStringSubmatch(urndtest.ReadFile(t,
		fmt.Sprintf("/proc/%d/status", pid)))
	if found == nil {
		t.Fatal("no VmRSS")
	}
	n, _ := strconv.Atoi(found[1]) // the expression only matches digits
	return n
}

// dialUnread connects with a small receive buffer.
func dialUnread(t *testing.T, address string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// openTunnels permits urnd to connect to any port of this machine.
func openTunnels(c *config.Config) {
	urndtest.OpenLoopback(c)
	c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
}
