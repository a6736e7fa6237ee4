package httpcache_test

import (
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// The head of a response does not wait for a stalled body: the client may have to react to the head first.
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

// A full buffer of a body of unknown length does not wait for more: it may end a message that the client has to
// answer first.
func TestFullBufferBeforeRest(t *testing.T) {
	origin, body := io.Pipe()
	content := httpcache.Live(&httpmessage.Response{Body: origin, ContentLength: -1})
	defer content.Close()
	var got, flushed atomic.Int64
	var sending sync.WaitGroup
	sending.Go(func() {
		if err := content.SendTo(counter{&got}, func() { flushed.Store(got.Load()) }); err != nil {
			t.Error(err)
		}
	})
	for size := int64(1); size <= 1<<18; size *= 2 { // includes the size of a buffer
		before := got.Load()
		if _, err := body.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		testserver.Wait(t, "a message is sent", func() bool { return flushed.Load() == before+size })
	}
	_ = body.Close()
	sending.Wait()
}

// counter counts the bytes written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}
