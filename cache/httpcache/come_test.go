package httpcache_test

import (
	"context"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// comeBody is a body that has come with its head.
type comeBody struct{ *strings.Reader }

// Close implements io.Closer.
func (comeBody) Close() error { return nil }

// Buffered implements httpcache.Buffered.
func (b comeBody) Buffered() int { return b.Len() }

// What has come with its head is stored before a client has its answer that gets nothing of it: whoever asks next, on the same connection
// even, makes no second exchange.
func TestStoredBeforeItsAnswer(t *testing.T) {
	s := newSite(t, nil)
	s.mu.Lock()
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		response := s.response(200, "", "Cache-Control: max-age=60")
		response.Body, response.ContentLength = comeBody{strings.NewReader("abc")}, 3
		return response, nil
	}
	s.mu.Unlock()
	for range 200 {
		before := s.count()
		for range 3 {
			if got := s.get("Range: bytes=100000-"); got.Status != 416 {
				t.Fatalf("status %d, want 416", got.Status)
			}
		}
		if n := s.count() - before; n != 1 {
			t.Fatalf("%d exchanges, want 1", n)
		}
		s.cache.Purge(target, true)
	}
}
