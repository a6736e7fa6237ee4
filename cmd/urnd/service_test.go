package main

import (
	"runtime"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// A service that fails to be wired leaves no goroutine behind, whichever part fails: each reload of such a
// configuration would add some. The exporter of spans is started first.
func TestNewServiceClosesAfterAnError(t *testing.T) {
	wired := func(change func(*config.Config)) (service *service, err error) {
		t.Helper()
		c := config.Default()
		c.Telemetry.Endpoint = "http://127.0.0.1:9"
		change(&c)
		d := newDependencies()
		r, err := newResolution(c, d.resolverDependencies)
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		return newService(c, r, d)
	}
	before, same := 0, 0
	testserver.Wait(t, "tests before have left nothing running that ends now", func() bool {
		n := runtime.NumGoroutine()
		if same++; n != before {
			before, same = n, 0
		}
		return same == 10
	})
	leavesNothing := func(what string) {
		t.Helper()
		testserver.Wait(t, what+" leaves nothing running", func() bool { return runtime.NumGoroutine() <= before })
	}
	whole, err := wired(func(*config.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	if runtime.NumGoroutine() <= before {
		t.Fatal("a service runs nothing: there is nothing to leave")
	}
	whole.close()
	leavesNothing("a service that was closed")
	for name, change := range map[string]func(*config.Config){
		"proxy.upstreams": func(c *config.Config) {
			c.Proxy.Upstreams = []config.Upstream{{
				Proxies: []string{"http://a.example:1"}, User: "a",
				Password: "/nowhere",
			}}
		},
		"news.login":           func(c *config.Config) { c.News.Login = "/nowhere" },
		"proxy.policy":         func(c *config.Config) { c.Proxy.Policy = "none" },
		"cache.disk_directory": func(c *config.Config) { c.Cache.Disk, c.Cache.DiskDirectory = 1<<20, "/dev/null/a" },
	} {
		if made, err := wired(change); err == nil || made != nil {
			t.Errorf("%s: %v, %v", name, made, err)
		}
		leavesNothing("a service that fails by " + name)
	}
}
