package httpcache

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// passed is the content of a response that is for one client, and not stored.
type passed struct {
	response *httpmessage.Response
	unwatch  func() bool             // ends the watch of the client; nil for none
	cancel   context.CancelCauseFunc // ends the exchange; nil where that ends with its client
}

// Close implements Content.
func (p *passed) Close() {
	_ = p.response.Body.Close()
	if p.cancel != nil {
		p.unwatch()
		p.cancel(nil)
	}
}

// SendTo implements Content.
func (p *passed) SendTo(w io.Writer, flush func()) error {
	left := p.response.ContentLength
	size := int64(blockSize)
	if left >= 0 {
		size = min(size-1, left) + 1 // one more for the end
	}
	buffer := make([]byte, size)
	for read := p.first(flush); ; read = p.response.Body.Read {
		n, err := read(buffer)
		left -= int64(n)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n < len(buffer) && left != 0 && flush != nil:
			flush() // more may take long
		}
	}
}

// headDelay is how long the head of a response waits for the first octets of its body, to be sent with them.
const headDelay = 5 * time.Millisecond

// Buffered is a body of which it can be said how many octets a read gives at once.
type Buffered interface{ Buffered() int }

// first returns what reads the first octets, and flushes the head where they do not come soon: the client may send what they
// answer when it has the head, as with gRPC.
func (p *passed) first(flush func()) func([]byte) (int, error) {
	if b, ok := p.response.Body.(Buffered); flush == nil || ok && b.Buffered() > 0 {
		return p.response.Body.Read
	}
	return func(buffer []byte) (int, error) {
		flushed := make(chan struct{})
		timer := time.AfterFunc(headDelay, func() {
			defer close(flushed)
			flush()
		})
		n, err := p.response.Body.Read(buffer)
		if !timer.Stop() {
			<-flushed
		}
		return n, err
	}
}

// Live returns the content of a response that does not come through the cache. It ends with the context by which it was asked for.
func Live(response *httpmessage.Response) Content { return &passed{response: response} }
