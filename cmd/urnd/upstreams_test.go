package main

import (
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
)

// A proxy that could not be connected to is skipped after a reload that changes the list, too.
func TestUpstreamsOfNextConfiguration(t *testing.T) {
	d, c := newDependencies(), config.Default()
	now := time.Now()
	d.now = func() time.Time { return now }
	wire := func(proxies ...string) wiredAll {
		c.Proxy.Upstreams = []config.Upstream{{Proxies: proxies}}
		w, err := wireAll(c, d)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.close)
		return w
	}
	target := resolvable(t, "http://www.example/").URI
	before := wire("http://a.example:1", "http://b.example:1")
	route := before.service.upstreams.Route(target)
	failing, _ := route.Next()
	route.Failed(failing, errors.New("connection refused"))
	d.previous, d.placed = before.forNext(), before.service.placed
	after := wire("http://a.example:1", "http://b.example:1", "http://c.example:1")
	if u, _ := after.service.upstreams.Route(target).Next(); u.Address != "b.example:1" {
		t.Errorf("%s is used", u.Address)
	}
	if len(after.service.placed) != 1 || len(before.service.placed) != 1 {
		t.Errorf("%d and %d pools", len(before.service.placed), len(after.service.placed))
	}
}
