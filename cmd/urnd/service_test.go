package main

import (
	"bytes"
	"runtime/pprof"
	"testing"

	"github.com/urnd/urnd/config"
)

// A service that cannot be wired leaves nothing running, whichever part fails: each reload of such a
// configuration would leave it again. The exporter of spans is what runs first.
func TestNewServiceClosesAfterAnError(t *testing.T) {
	exporters := func() int {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
			t.Fatal(err)
		}
		return bytes.Count(stacks.Bytes(), []byte("batchSpanProcessor).processQueue("))
	}
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
	before := exporters()
	whole, err := wired(func(*config.Config) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := exporters(); got != before+1 {
		t.Fatalf("a service runs %d exporters", got-before)
	}
	whole.close()
	for name, change := range map[string]func(*config.Config){
		"proxy.upstreams": func(c *config.Config) {
			c.Proxy.Upstreams = []config.Upstream{{Server: "http://a.example:1", User: "a", Password: "/nowhere"}}
		},
		"news.login":           func(c *config.Config) { c.News.Login = "/nowhere" },
		"proxy.policy":         func(c *config.Config) { c.Proxy.Policy = "none" },
		"cache.disk_directory": func(c *config.Config) { c.Cache.Disk, c.Cache.DiskDirectory = 1<<20, "/dev/null/a" },
	} {
		if made, err := wired(change); err == nil || made != nil {
			t.Errorf("%s: %v, %v", name, made, err)
		}
		if got := exporters(); got != before {
			t.Errorf("%s: %d exporters are left", name, got-before)
		}
	}
}
