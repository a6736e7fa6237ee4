//go:build e2e

package proxy

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestAccessLogOnAFullDisk checks that a full disk is logged once, and reported by /readyz while lines are
// lost.
func TestAccessLogOnAFullDisk(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Log.Access, c.Namespaces = []config.AccessLog{{File: "/dev/full"}}, []config.Namespace{book("a")}
	})
	if got := readiness(t, d); strings.Contains(got, "access log") {
		t.Errorf("before a request: %s", got)
	}
	for range 3 {
		if got := d.Get(t, "/urn:book:1"); got.Status != 302 {
			t.Errorf("%+v", got)
		}
		testserver.Wait(t, "/readyz says so", func() bool {
			got := readiness(t, d)
			return strings.HasPrefix(got, "200 ") && strings.Contains(got,
				"access log write failed, lines dropped: write /dev/full: no space left on device")
		})
	}
	if n := strings.Count(d.Log(), "access log write failed"); n != 1 {
		t.Errorf("%d lines of the log", n)
	}
	if strings.Contains(d.Scrape(t), "\nurnd_access_log_dropped_lines_total{log=\"/dev/full\"} 0\n") {
		t.Error("the lost lines are not counted")
	}
	if !reload(t, d, func(c *config.Config) { c.Log.Access[0].File = t.TempDir() + "/access.log" }) ||
		strings.Contains(readiness(t, d), "access log") {
		t.Error("another file is degraded too")
	}
}
