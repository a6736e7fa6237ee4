package httpcache_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// comeBody is a body that arrived together with its head.
type comeBody struct{ *strings.Reader }

// Close implements io.Closer.
func (comeBody) Close() error { return nil }

// Buffered implements httpcache.Buffered.
func (b comeBody) Buffered() int { return b.Len() }

// A body that arrived with its head is stored before a client that does not read it gets the answer: the next
// request, even on the same connection, makes no second exchange.
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

// A body that arrived with its head is sent with it, because sending the head alone would need a second write.
func TestSentWithItsHead(t *testing.T) {
	s := newSite(t, nil)
	for _, test := range []struct {
		name    string
		come    bool
		flushes int
	}{{"it has come", true, 0}, {"it may take long", false, 1}} {
		s.mu.Lock()
		s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
			response := s.response(200, "", "Cache-Control: max-age=60")
			response.Body, response.ContentLength = io.NopCloser(strings.NewReader("abc")), 3
			if test.come {
				response.Body = comeBody{strings.NewReader("abc")}
			}
			return response, nil
		}
		s.mu.Unlock()
		s.cache.Purge(target, true)
		r := &httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: fields()}, Key: target}
		a, err := s.cache.Serve(t.Context(), r, httpcache.OriginFunc(s.forward))
		if err != nil {
			t.Fatal(err)
		}
		flushes := 0
		var got strings.Builder
		if err := a.Content.SendTo(&got, func() { flushes++ }); err != nil || got.String() != "abc" ||
			flushes != test.flushes {
			t.Errorf("%s: %q, %v, the head was flushed %d times, want %d", test.name, got.String(), err, flushes,
				test.flushes)
		}
		a.Content.Close()
	}
}
