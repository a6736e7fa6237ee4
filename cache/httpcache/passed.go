package httpcache

import (
	"errors"
	"io"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// passed is the content of a response that is for one client, and not stored.
type passed struct {
	response *httpmessage.Response
	watch    lifetime.Watch     // of the client
	exchange *lifetime.Lifetime // nil where it is that of the client
	buffers  *buffers           // nil for none that are used again
}

// Ended implements lifetime.Watcher, for the client.
func (p *passed) Ended() { p.exchange.End(nil) }

// Close implements Content.
func (p *passed) Close() {
	_ = p.response.Body.Close()
	if p.exchange != nil {
		p.watch.Stop()
		p.exchange.End(nil)
	}
}

// SendTo implements Content.
func (p *passed) SendTo(w io.Writer, flush func()) error {
	left := p.response.ContentLength
	size := int64(blockSize)
	if left >= 0 {
		size = min(size-1, left) + 1 // one more for the end
	}
	buffer := p.buffers.take(int(size))
	err := p.sendBy(*buffer, w, flush, left)
	p.buffers.give(buffer)
	return err
}

func (p *passed) sendBy(buffer []byte, w io.Writer, flush func(), left int64) error {
	for isFirst := true; ; isFirst = false {
		n, err := p.read(buffer, flush, isFirst)
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

// read reads. It flushes the head where the first octets do not come soon: the client may send what they answer when it has the head,
// as with gRPC.
func (p *passed) read(buffer []byte, flush func(), isFirst bool) (int, error) {
	if b, ok := p.response.Body.(Buffered); !isFirst || flush == nil || ok && b.Buffered() > 0 {
		return p.response.Body.Read(buffer)
	}
	return p.readFirst(buffer, flush)
}

func (p *passed) readFirst(buffer []byte, flush func()) (int, error) {
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

// Live returns the content of a response that does not come through the cache. It ends with the context by which it was asked for.
func Live(response *httpmessage.Response) Content { return &passed{response: response} }
