package body

import (
	"errors"
	"io"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/lifetime"
)

// PassThrough is the content of a response for one client that is not stored.
type PassThrough struct {
	Response *httpmessage.Response
	Watch    lifetime.Watch     // of the client
	Exchange *lifetime.Lifetime // nil if it is the context of the client
	Buffers  *Buffers           // nil for no pool
}

// Ended implements lifetime.Watcher for the client.
func (p *PassThrough) Ended() { p.Exchange.End(nil) }

// Close implements Content.
func (p *PassThrough) Close() {
	_ = p.Response.Body.Close()
	if p.Exchange != nil {
		p.Watch.Stop()
		p.Exchange.End(nil)
	}
}

// SendTo implements Content.
func (p *PassThrough) SendTo(w io.Writer, flush func()) error {
	left := p.Response.ContentLength
	size := int64(blockSize)
	if left >= 0 {
		size = min(size-1, left) + 1 // one byte more, to detect the end
	}
	buffer := p.Buffers.take(int(size))
	err := p.sendBy(*buffer, w, flush, left)
	p.Buffers.give(buffer)
	return err
}

func (p *PassThrough) sendBy(buffer []byte, w io.Writer, flush func(), left int64) error {
	for unsent := true; ; {
		n, err := p.read(buffer, flush, unsent)
		left -= int64(n)
		unsent = left < 0 && n == len(buffer)
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

// sendDelay is how long written bytes wait for more, to be sent together: the head of a response for the
// beginning of its body, and a full buffer of a body of unknown length.
const sendDelay = 5 * time.Millisecond

// Buffered is a body that reports how many bytes can be read without waiting.
type Buffered interface{ Buffered() int }

// read reads from the body. It flushes unsent bytes if no more arrive soon, because the client may send the
// next message only after it has them, as with gRPC.
func (p *PassThrough) read(buffer []byte, flush func(), unsent bool) (int, error) {
	if b, ok := p.Response.Body.(Buffered); !unsent || flush == nil || ok && b.Buffered() > 0 {
		return p.Response.Body.Read(buffer)
	}
	return p.readOrFlush(buffer, flush)
}

func (p *PassThrough) readOrFlush(buffer []byte, flush func()) (int, error) {
	flushed := make(chan struct{})
	timer := time.AfterFunc(sendDelay, func() {
		defer close(flushed)
		flush()
	})
	n, err := p.Response.Body.Read(buffer)
	if !timer.Stop() {
		<-flushed
	}
	return n, err
}

// Live returns the content of a response that bypasses the cache. It ends with the context of its request.
func Live(response *httpmessage.Response) Content { return &PassThrough{Response: response} }
