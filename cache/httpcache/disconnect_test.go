package httpcache_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// A client that leaves when the header arrives neither blocks the cache nor affects the other clients.
func TestLeavesWithHeader(t *testing.T) {
	s := newSite(t, nil)
	for range 3000 {
		ctx, cancel := context.WithCancel(t.Context())
		requested := make(chan struct{})
		s.mu.Lock()
		s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
			close(requested)
			return &httpmessage.Response{
				Status: 200, Fields: fields("Cache-Control: max-age=60"),
				Body: io.NopCloser(strings.NewReader(strings.Repeat("a", 1<<10))), ContentLength: -1,
			}, nil
		}
		s.mu.Unlock()
		var all sync.WaitGroup
		all.Go(func() { <-requested; cancel() })
		if a, err := s.cache.Serve(ctx,
			&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: httpmessage.Fields{}}, Key: target},
			httpcache.OriginFunc(s.forward)); err == nil && a.Content != nil {
			a.Content.Close()
		}
		all.Wait()
		s.eventually("the exchange ends", func() bool { return s.cache.Flights(target) == 0 })
		s.cache.Purge(target, true)
	}
}

// Clients that wait for a validation read the response only after it is stored, because the disk may replace
// its content.
func TestValidatedOnDiskForMany(t *testing.T) {
	store, closes := newDisk(t, t.TempDir())
	defer closes()
	s := newSite(t, func(c *httpcache.Config) { c.Disk, c.MaxObject, c.StaleFor = store, 1<<10, 0 })
	large := text(4 << 10)
	s.sends(200, large, "Cache-Control: max-age=1", `ETag: "1"`)
	s.expect(s.get(), 200, large, false)
	for range 100 {
		s.clock.advance(time.Minute)
		proceed := make(chan struct{})
		s.mu.Lock()
		s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
			<-proceed
			return s.response(304, "", "Cache-Control: max-age=1", `ETag: "1"`), nil
		}
		s.mu.Unlock()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if g := s.get(); g.err != nil || g.body != large {
					t.Errorf("%v, %d bytes", g.err, len(g.body))
				}
			})
		}
		s.eventually("they wait", func() bool { return s.cache.Waiting(target) == 8 })
		close(proceed)
		all.Wait()
	}
}
