package httpcache_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
)

// A client that has waited in vain for the response to another one holds up nobody while it asks the
// origin itself.
func TestWaitedInVain(t *testing.T) {
	s := newSite(t, func(c *httpcache.Config) { c.MaxObject = 1 << 10 })
	const size = 8 << 20
	proceed, slow := make(chan struct{}), make(chan struct{})
	s.respond = func(_ context.Context, r sent) (*httpcache.Response, error) {
		if r.header.Get("Accept") == "b" {
			<-slow
			return s.response(200, "b", "Cache-Control: max-age=60", "Vary: Accept"), nil
		}
		<-proceed
		return s.response(200, strings.Repeat("a", size), "Cache-Control: max-age=60", "Vary: Accept"), nil
	}
	done := make(chan got, 1)
	go func() { done <- s.get("Accept: a") }()
	s.eventually("it is asked", func() bool { return s.count() == 1 })
	other := make(chan got, 1)
	go func() { other <- s.get("Accept: b") }()
	s.eventually("both wait", func() bool { return s.cache.Waiting(target) == 2 })
	close(proceed)
	select {
	case g := <-done:
		if len(g.body) != size || g.broken != nil {
			t.Errorf("%d octets, %v", len(g.body), g.broken)
		}
	case <-time.After(5 * time.Second):
		t.Error("the one who waits for another response holds up the body")
	}
	close(slow)
	s.expect(<-other, 200, "b", false)
}
