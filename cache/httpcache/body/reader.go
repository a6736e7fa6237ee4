package body

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/lifetime"
)

// Reader is a client's reader of an arriving body.
type Reader struct {
	body  *Arriving
	ctx   context.Context //nolint:containedctx // of its client, for the cause of its end
	at    int64
	end   int64          // -1 for the end of the body
	watch lifetime.Watch // of its client
	place int            // index in Arriving.readers, -1 after leaving; guarded by the body
	sends bool           // it is writing to its client; guarded by the body
	// buffer receives the bytes read from the spool.
	buffer []byte
}

// Join returns a reader of a part. It returns nil if it is too late to begin, or if the part is far behind the
// arrived bytes of a body that is too large to be stored.
func (b *Arriving) Join(ctx context.Context, part rules.Span) *Reader {
	b.mu.Lock()
	defer b.mu.Unlock()
	late := b.start > 0 || part.Start > b.arrived && (b.passThrough || b.from.Length > b.from.MaxStored)
	if late && !b.spooled() || b.done && b.err != nil {
		return nil
	}
	r := &b.first
	if r.body != nil {
		r = new(Reader)
	} else if b.readers == nil {
		b.readers = b.place[:0]
	}
	r.body, r.at, r.end, r.place = b, part.Start, part.End, len(b.readers)
	b.readers = append(b.readers, r)
	b.unread.Store(false)
	r.ctx = ctx // before the watch, which may fire immediately
	r.watch = lifetime.Notify(ctx, r)
	return r
}

// Ended implements lifetime.Watcher for the client. When the server shuts down, a stalled origin must not delay
// it.
func (r *Reader) Ended() {
	if errors.Is(lifetime.Cause(r.ctx), http.ErrServerClosed) {
		r.body.mu.Lock()
		r.body.from.Finishes = false
		r.body.mu.Unlock()
	}
	r.remove()
}

// Close implements Content.
func (r *Reader) Close() {
	r.watch.Stop()
	r.body.FinishArrived()
	r.remove()
}

// reading reports whether the client still reads; the body is locked.
func (r *Reader) reading() bool { return r.place >= 0 }

// leave removes the reader from the body; the body is locked.
func (r *Reader) leave() {
	b, last := r.body, len(r.body.readers)-1
	b.readers[r.place] = b.readers[last]
	b.readers[r.place].place = r.place
	b.readers[last] = nil
	b.readers, r.place = b.readers[:last], -1
}

// remove ends the reading of the client. If it was the last, the exchange ends, unless the rest is small.
func (r *Reader) remove() {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.reading() {
		return
	}
	r.leave()
	b.unread.Store(len(b.readers) == 0)
	b.fixed = b.fixed || r.sends
	if b.passThrough {
		b.drop()
	}
	b.wake()
	if b.done && len(b.readers) == 0 {
		b.endSpool()
	}
	b.endUnread()
}

// endUnread ends the exchange if no client reads the body or waits for it any more, unless the rest is small;
// b.mu is held.
func (b *Arriving) endUnread() {
	if b.done || len(b.readers) > 0 || b.awaited() {
		return
	}
	if b.worthFinishing() {
		if !b.reading {
			b.reading = true
			b.from.Owner.Spawn(b.finish)
		}
		return
	}
	b.from.Owner.End(ErrAbandoned)
	if !b.reading {
		b.finished(ErrAbandoned)
	}
}

// SendTo implements Content.
func (r *Reader) SendTo(w io.Writer, flush func()) error {
	for {
		p, err := r.next(flush)
		if len(p) > 0 {
			if _, err := w.Write(p); err != nil {
				return err
			}
			r.sent(len(p))
			continue
		}
		return err
	}
}

// sent records that the client has received n more bytes.
func (r *Reader) sent(n int) {
	b := r.body
	b.mu.Lock()
	defer b.mu.Unlock()
	r.at += int64(n)
	r.sends = false
	if b.passThrough {
		b.drop()
		b.wake()
	}
}

// hasAll reports whether the client has received its whole part; the body is locked.
func (r *Reader) hasAll() bool { return r.end >= 0 && r.at >= r.end }

// next returns the next bytes, nil and no error at the end. It waits for more if necessary.
func (r *Reader) next(flush func()) ([]byte, error) {
	b := r.body
	flushed := flush == nil
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		reads := r.reading()
		switch { // bytes that a client that has left did not receive may have been dropped
		case r.hasAll():
			return nil, nil
		case reads && r.at < b.start:
			return r.readSpool()
		case reads && r.at < b.arrived:
			r.sends = true
			return b.available(r.at, r.end), nil
		case b.done && r.at >= b.arrived:
			return nil, b.err
		case !reads: // the client has left
			return nil, ErrAbandoned
		case !flushed && !b.buffered():
			b.mu.Unlock()
			flush()
			flushed = true
			b.mu.Lock()
		default:
			b.more()
		}
	}
}

// more reads more, or waits until another reader has read or sent more; b.mu is held.
func (b *Arriving) more() {
	if b.reading || b.full() {
		b.wait()
		return
	}
	b.reading = true
	b.mu.Unlock()
	if b.fill() { // all clients have left in the meantime
		b.from.Owner.Spawn(b.finish)
	}
	b.mu.Lock()
}
