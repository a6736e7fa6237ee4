package main

import (
	"net/netip"
	"runtime"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// A configuration that was replaced is not kept in memory by those after it.
func TestReplacedConfigurationIsFreed(t *testing.T) {
	sites := func(clients []netip.Prefix) []config.Site {
		return []config.Site{{
			Hosts: []string{"www.test"}, Servers: []string{"http://127.0.0.1:9"}, Clients: clients,
			Check: config.SiteCheck{Path: "/", Interval: time.Hour},
		}}
	}
	w := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) {
		openLoopback(c)
		c.Proxy.Sites = sites(nil)
	})
	var part weak.Pointer[[1]netip.Prefix]
	read := make(chan struct{})
	w.setLoad(func() (config.Config, error) { // the first one has made what all reuse
		c, clients := w.config, &[1]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.Proxy.Sites, part = sites(clients[:]), weak.Make(clients)
		close(read)
		return c, nil
	})
	w.hangups <- syscall.SIGHUP
	<-read
	w.setLoad(func() (config.Config, error) { return w.config, nil })
	for range 3 {
		w.hangups <- syscall.SIGHUP
	}
	for end := time.Now().Add(testserver.Timeout); part.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("it is still in memory")
		}
	}
}
