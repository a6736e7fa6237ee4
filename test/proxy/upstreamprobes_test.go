//go:build e2e

package proxy

import (
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestUpstreamProbesOutliveReload checks that the state of upstream proxies and their probes survive a reload.
// The probes look up names and log according to the new configuration when all resources of the old one are
// closed.
func TestUpstreamProbesOutliveReload(t *testing.T) {
	t.Parallel()
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	var probes atomic.Int64
	go func() {
		for {
			conn, err := upstream.Accept()
			if err != nil {
				return
			}
			probes.Add(1)
			conn.Close()
		}
	}()
	_, port, _ := strings.Cut(upstream.Addr().String(), ":")
	names := func() string { return urndtest.UDPAndTCP(urndtest.Zone(t, "proxy.example. 0 IN A 127.0.0.1")).Serve(t) }
	d := urndtest.Start(t, names(), func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Proxy.Upstreams = []config.Upstream{{
			Proxies:       []string{"http://proxy.example:" + port},
			CheckInterval: time.Second,
		}}
	})
	probed := func(when string) {
		t.Helper()
		before := probes.Load()
		const some = 3
		testserver.Wait(t, "the upstream proxy is probed "+when, func() bool { return probes.Load() >= before+some })
	}
	probed("at first")
	second := names()
	d.Reload(t, func(c *config.Config) {
		c.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort(second)}}
		c.Log.Format = "text"
	})
	probed("after the reload")
	if text := d.Log(); strings.Contains(text, "upstream proxy down") {
		t.Errorf("the log has a failure:\n%s", text)
	}
	upstream.Close()
	d.WaitForLog(t, `level=WARN msg="upstream proxy down, used only if all others are down or fail"`)
}
