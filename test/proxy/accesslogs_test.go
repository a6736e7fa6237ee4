//go:build e2e

package proxy

import (
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestSeveralAccessLogs checks that each of several logs contains the requests that it selects, in its format,
// also after a reload that changes them. An unavailable syslog server only loses lines of its own log.
func TestSeveralAccessLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket := filepath.Join(dir, "log")
	syslog, err := new(net.ListenConfig).ListenPacket(t.Context(), "unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer syslog.Close()
	file := func(name string) string { return filepath.Join(dir, name) }
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Namespaces = []config.Namespace{book("a")}
		c.Log.Access = []config.AccessLog{
			{Format: "squid", File: file("squid.log")},
			{
				Format: "apache:%h %>s %U", File: file("errors.log"),
				Only: config.AccessLogOnly{Statuses: []string{"4xx"}}, Clients: "network",
			},
			{Format: `apache:"%r" %>s`, Syslog: "unix:" + socket},
			{
				File: file("others.log"),
				Only: config.AccessLogOnly{Clients: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
			},
		}
	})
	d.Get(t, "/urn:book:1")
	d.Get(t, "/urn:a")
	testserver.Wait(t, "the lines are written",
		func() bool { return strings.Count(urndtest.ReadFile(t, file("squid.log")), "\n") == 2 })
	errorsAre := func(want string) {
		testserver.Wait(t, "the log of errors is "+want,
			func() bool { return urndtest.ReadFile(t, file("errors.log")) == want })
	}
	errorsAre("127.0.0.0 400 /urn:a\n")
	b := make([]byte, 1000)
	if err := syslog.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, _, err := syslog.ReadFrom(b)
	if want := regexp.MustCompile(`^<134>\S.{14} urnd\[\d+\]: "GET /urn:book:1 HTTP/1.1" 302$`); err != nil ||
		!want.Match(b[:n]) {
		t.Errorf("%v: %q", err, b[:n])
	}
	syslog.Close()
	if !reload(t, d, func(c *config.Config) {
		c.Log.Access = c.Log.Access[1:]
		c.Log.Access[0].Format = "apache:%h %U"
	}) {
		t.Fatal("the reload is refused")
	}
	d.Get(t, "/urn:b")
	testserver.Wait(t, "/readyz says so", func() bool { return strings.Contains(readiness(t, d), "syslog server") })
	errorsAre("127.0.0.0 400 /urn:a\n127.0.0.0 /urn:b\n")
	testserver.Wait(t, "the lost lines are counted by log", func() bool {
		metrics := d.Scrape(t)
		return strings.Contains(metrics, "\nurnd_access_log_dropped_lines_total{log=\"unix:"+socket+"\"} 1\n") &&
			strings.Contains(metrics, "\nurnd_access_log_dropped_lines_total{log=\""+file("errors.log")+"\"} 0\n")
	})
	d.Stop()
	if got := urndtest.ReadFile(t, file("others.log")) + d.Log(); strings.Contains(got, `"form":`) {
		t.Errorf("%q", got)
	}
	if n := strings.Count(urndtest.ReadFile(t, file("squid.log")), "\n"); n != 2 {
		t.Errorf("%d lines of a log that is gone", n)
	}
}
