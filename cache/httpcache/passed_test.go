package httpcache_test

import (
	"io"
	"sync"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// The head of a response does not wait for a body of which nothing comes: a client may have to answer it first.
func TestHeadBeforeBody(t *testing.T) {
	origin, body := io.Pipe()
	content := httpcache.Live(&httpmessage.Response{Body: origin, ContentLength: -1})
	defer content.Close()
	flushed := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		if err := content.SendTo(io.Discard, sync.OnceFunc(func() { close(flushed) })); err != nil {
			t.Error(err)
		}
	})
	testserver.Within(t, "the head is sent", func() { <-flushed })
	_ = body.Close()
	sending.Wait()
}
