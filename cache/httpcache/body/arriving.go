package body

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/urnd/urnd/cache/httpcache/rules"
)

const (
	// blockSize is the size of the buffer for one read, in bytes.
	blockSize = 64 << 10
	// firstBlock is the size of the first buffer if the length of the body is unknown.
	firstBlock = 4 << 10
	// window is how many bytes the fastest reader of a body that is not stored may be ahead of the slowest.
	window = 1 << 20
	// finishSize is the maximum rest of a body that is read without a reader.
	finishSize = 256 << 10
)

// ErrAbandoned means that all readers of a body have left.
var ErrAbandoned = fmt.Errorf("all clients disconnected: %w", context.Canceled)

// Owner is the exchange that requested the body from an origin.
type Owner interface {
	// Spawn runs a function in the background, within the lifetime of the owner. The body may be locked until
	// Spawn returns.
	Spawn(run func())
	// End ends the exchange with the origin; err is nil after a complete body.
	End(err error)
	// Either Complete or Incomplete is called once, at the end of the body, while the body is locked. Complete
	// means that the body is complete and may be stored: if inMemory is set, content is the whole body;
	// otherwise spool has it. spool may be nil if inMemory is set.
	Complete(size int64, content Blocks, inMemory bool, spool *Spool)
	Incomplete()
}

// Source is where a body comes from, and its limits.
type Source struct {
	Reader    io.ReadCloser
	Length    int64 // -1 if unknown
	MaxStored int64 // maximum size of a stored body, in bytes
	Budget    *Budget
	Owner     Owner
	// Spool stores the arrived bytes on disk; nil for none.
	Spool *Spool
	// Finishes is whether a small rest is read after all clients have left. It must be false if the exchange
	// may still read the body of a request.
	Finishes bool
	// LeaderHalfClosed is closed when the leader has half-closed its connection, and may have left; nil is never
	// closed.
	LeaderHalfClosed <-chan struct{}
}

// Arriving is the content of a response while it arrives. Whichever reader first needs more bytes reads them
// from the origin, so that no separate goroutine is needed. Once more has arrived than may be stored, it is
// only passed through: bytes that all readers have are dropped, and no reader can join any more. It must not be
// copied, and is safe for concurrent use. Begin must be called before any other method.
type Arriving struct {
	from        Source // its spool is nil after the last reader has left
	mu          sync.Mutex
	blocks      Blocks
	one         [1][]byte // the memory of blocks while there is only one
	start       int64     // offset of blocks: the bytes before it were dropped
	arrived     int64     // number of bytes
	passThrough bool      // it is not stored
	taken       int64     // memory taken from the budget, in bytes
	// reserved is whether memory for the whole body is taken.
	reserved bool
	// awaiting is the number of clients that wait for the end before they read.
	awaiting int
	// unread is whether the last reader has left; it is set while mu is held.
	unread  atomic.Bool
	spare   []byte // a block that all readers have sent, for the next read
	fixed   bool   // no block is reused: a reader that has left may still send one
	done    bool
	err     error // of an incomplete body
	reading bool  // some reader reads from the source
	readers []*Reader
	first   Reader        // the memory of the first reader
	place   [1]*Reader    // the memory of readers while there is only one
	changed chan struct{} // closed when more has arrived or was sent; nil if no reader waits
}

// Begin sets the source of the body.
func (b *Arriving) Begin(from Source) { b.from = from }

// finish reads the body to its end for the store alone. The rest is bounded, and so is the time that an origin
// may take for each read.
func (b *Arriving) finish() {
	for b.fill() {
	}
}

// FinishArrived reads the body to its end for the store if all of it has arrived with its head, without
// waiting. So it is stored before a client that does not read it gets the answer, and may request it again.
func (b *Arriving) FinishArrived() {
	for b.claimArrived() {
		b.finish()
	}
}

// claimArrived sets reading if the whole rest has arrived and no reader reads it.
func (b *Arriving) claimArrived() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	claims := !b.done && !b.reading && b.worthFinishing() && b.hasArrived()
	b.reading = b.reading || claims
	return claims
}

// hasArrived reports whether the rest can be read without waiting; b.mu is held.
func (b *Arriving) hasArrived() bool {
	buffered, ok := b.from.Reader.(Buffered)
	return b.from.Reader == http.NoBody || ok && int64(buffered.Buffered()) >= b.from.Length-b.arrived
}

// buffered reports whether more bytes can be read without waiting, so that they are sent together with those
// written before; b.mu is held.
func (b *Arriving) buffered() bool {
	buffered, ok := b.from.Reader.(Buffered)
	return ok && !b.reading && !b.full() && buffered.Buffered() > 0
}

// full reports whether the only reader of a passed-through body is too far behind; b.mu is held. One of several
// readers, after a disk failure, does not delay the others: see drop.
func (b *Arriving) full() bool {
	return b.passThrough && !b.spooled() && len(b.readers) == 1 && b.arrived-b.start >= window
}

// wait waits until more has arrived or was sent; b.mu is held.
func (b *Arriving) wait() {
	changed := b.whenChanged()
	b.mu.Unlock()
	<-changed
	b.mu.Lock()
}

// whenChanged returns a channel that is closed when more has arrived or was sent; b.mu is held.
func (b *Arriving) whenChanged() <-chan struct{} {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// wake wakes the waiting goroutines; b.mu is held.
func (b *Arriving) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// available returns the arrived bytes from offset at up to end, within one block; b.mu is held.
func (b *Arriving) available(at, end int64) []byte {
	if at >= b.arrived || end >= 0 && at >= end {
		return nil
	}
	offset := b.start
	for _, block := range b.blocks {
		if at < offset+int64(len(block)) {
			p := block[at-offset:]
			if end >= 0 && int64(len(p)) > end-at {
				p = p[:end-at]
			}
			return p
		}
		offset += int64(len(block))
	}
	return nil
}

// fill reads more from the origin, and reports whether the caller must go on although no client waits. The
// caller has set reading.
func (b *Arriving) fill() (more bool) {
	b.mu.Lock()
	space := b.space()
	b.mu.Unlock()
	n, err := b.from.Reader.Read(space)
	spooled := b.from.Spool != nil && b.from.Spool.whole && n > 0 && b.from.Spool.write(space[:n])
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.from.Spool != nil && n > 0 {
		b.from.Spool.whole = spooled
	}
	b.append(space, n)
	b.reading = false
	b.endAfter(err)
	b.wake()
	return !b.done && b.reading
}

// endAfter ends the body if the last read completed it or failed, or no reader waits for more; b.mu is held.
func (b *Arriving) endAfter(err error) {
	unwanted := len(b.readers) == 0 && !b.awaited()
	switch {
	case errors.Is(err, io.EOF) && b.from.Length >= 0 && b.arrived != b.from.Length:
		b.finished(io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF), err == nil && b.arrived == b.from.Length:
		b.finished(nil)
	case err != nil:
		b.finished(err)
	case unwanted && !b.worthFinishing():
		b.from.Owner.End(ErrAbandoned)
		b.finished(ErrAbandoned)
	case unwanted, b.awaited():
		b.reading = true // finish continues
	}
}

// worthFinishing reports whether the rest is so small that it is read without a reader; b.mu is held.
func (b *Arriving) worthFinishing() bool {
	storable := !b.passThrough || b.spooled()
	return b.from.Finishes && storable && b.from.Length >= 0 && b.from.Length-b.arrived <= finishSize
}

// space returns the buffer for the next read; b.mu is held. Only the reader that has set reading uses it.
func (b *Arriving) space() []byte {
	if last := len(b.blocks) - 1; last >= 0 {
		block := b.blocks[last]
		if room := cap(block) - len(block); room > 0 {
			return block[len(block):cap(block)]
		}
	}
	n := int64(blockSize)
	switch {
	case b.from.Length >= 0:
		n = min(n, b.from.Length-b.arrived)
	case b.arrived == 0:
		n = firstBlock
	}
	if !b.passThrough && !b.reserved {
		if max(b.arrived+n, b.from.Length) > b.from.MaxStored || !b.from.Budget.take(n) {
			b.beginPassThrough()
		} else {
			b.taken += n
		}
	}
	if b.passThrough {
		return b.takeSpare()
	}
	return make([]byte, n)
}

// takeSpare returns a block to reuse, or a new one; b.mu is held.
func (b *Arriving) takeSpare() []byte {
	space := b.spare
	if b.spare = nil; space == nil {
		space = make([]byte, blockSize)
	}
	return space
}

// append adds the bytes read into space; b.mu is held.
func (b *Arriving) append(space []byte, n int) {
	if n == 0 {
		return
	}
	last := len(b.blocks) - 1
	if last >= 0 && cap(b.blocks[last]) > len(b.blocks[last]) {
		b.blocks[last] = b.blocks[last][:len(b.blocks[last])+n]
	} else {
		if b.blocks == nil {
			b.blocks = b.one[:0]
		}
		b.blocks = append(b.blocks, space[:n])
	}
	b.arrived += int64(n)
	if b.passThrough {
		b.drop()
	}
}

// beginPassThrough stops storing the body; b.mu is held.
func (b *Arriving) beginPassThrough() {
	b.passThrough = true
	b.giveMemory()
	b.drop()
}

func (b *Arriving) giveMemory() {
	b.from.Budget.give(b.taken)
	b.taken = 0
}

// drop drops the blocks of a passed-through body that all readers have; b.mu is held. After a disk failure
// there may be several readers: one that is too far behind is then aborted, so that it does not delay the
// others.
func (b *Arriving) drop() {
	least := b.arrived
	for _, r := range b.readers {
		if !r.hasAll() {
			least = min(least, r.at)
		}
	}
	if len(b.readers) > 1 {
		least = max(least, b.arrived-window)
	}
	for len(b.blocks) > 0 {
		n := int64(len(b.blocks[0]))
		inFile := b.spooled() && b.arrived-b.start > window
		if b.start+n > least && !inFile || len(b.blocks) == 1 && cap(b.blocks[0]) > len(b.blocks[0]) {
			return
		}
		if cap(b.blocks[0]) == blockSize && !b.fixed && b.start+n <= least {
			b.spare = b.blocks[0][:blockSize]
		}
		b.start += n
		b.blocks[0], b.blocks = nil, b.blocks[1:]
	}
}

// finished ends the body; b.mu is held.
func (b *Arriving) finished(err error) {
	if b.done {
		return
	}
	b.done, b.err = true, err
	_ = b.from.Reader.Close()
	b.from.Owner.End(err)
	b.giveMemory()
	var spool *Spool
	if err == nil && b.spooled() {
		spool = b.from.Spool
	}
	switch {
	case err != nil, b.passThrough && spool == nil:
		b.from.Owner.Incomplete()
	case b.passThrough:
		b.from.Owner.Complete(b.arrived, nil, false, spool)
	default:
		b.from.Owner.Complete(b.arrived, b.blocks.trimmed(), true, spool)
	}
	if len(b.readers) == 0 {
		b.endSpool()
	}
	b.wake()
}

// spooled reports whether all arrived bytes are on disk; b.mu is held.
func (b *Arriving) spooled() bool { return b.from.Spool != nil && b.from.Spool.whole }

// endSpool closes the file after its last reader; b.mu is held.
func (b *Arriving) endSpool() {
	if b.from.Spool != nil {
		_ = b.from.Spool.writer.Close() // a file that was not committed is removed
		b.from.Spool = nil
	}
}

// Open implements Body.
func (b *Arriving) Open(ctx context.Context, part rules.Span) (Content, error) {
	if b.Shareable() {
		if r := b.Join(ctx, part); r != nil {
			return r, nil
		}
	}
	return nil, ErrAbandoned
}

// Memory implements Body: the budget accounts for the memory of an arriving body.
func (*Arriving) Memory() int { return 0 }

// Size implements Body.
func (b *Arriving) Size() int64 { return b.from.Length }

// Clients returns how many clients read the body, and how many wait for its end.
func (b *Arriving) Clients() (reading, awaiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.readers), b.awaiting
}
