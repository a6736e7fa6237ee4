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
	// blockSize is the memory that a body is read into at a time.
	blockSize = 64 << 10
	// firstBlock is that of a body whose length is not known.
	firstBlock = 4 << 10
	// window is how far the fastest reader of a body that is not stored may be ahead of the slowest.
	window = 1 << 20
	// finishSize is how much of a body is read to its end although no reader waits for it.
	finishSize = 256 << 10
)

// ErrAbandoned means that all readers of a body have left.
var ErrAbandoned = fmt.Errorf("all clients have left: %w", context.Canceled)

// Owner has requested a body of an origin.
type Owner interface {
	// Spawn starts a function in the background, within the life of the owner. The body may be locked until it returns.
	Spawn(run func())
	// End ends the exchange with the origin, with nil after a complete body.
	End(err error)
	// Complete or Incomplete is called once, when nothing more comes, while the body is locked. Complete says that all
	// has come and may be stored: content is all of it unless inMemory is false, and then the spool has it, which is
	// otherwise nil for none.
	Complete(size int64, content Blocks, inMemory bool, spool *Spool)
	Incomplete()
}

// Source is where a body comes from, and what is done with it.
type Source struct {
	Reader io.ReadCloser
	Length int64 // -1 if unknown
	Most   int64 // that may be stored
	Budget *Budget
	Owner  Owner
	// Spool has what has arrived on disk; nil for none.
	Spool *Spool
	// Finishes is whether little that is left is read although all clients have left: not where the
	// exchange may still read the body of a request.
	Finishes bool
	// LeaderEnded is closed when the client that leads has ended its side, and may have left; nil never is.
	LeaderEnded <-chan struct{}
}

// Arriving is the content of a response while it arrives. It is read from the origin by whichever
// reader needs more first, so that it takes no goroutine of its own. Once more has arrived than
// may be stored it is only passed through: what all readers have is dropped, and no reader can begin to
// read any more. It must not be copied, and is safe for concurrent use. Begin must be called before all else.
type Arriving struct {
	from        Source // its spool is nil once no reader is left
	mu          sync.Mutex
	blocks      Blocks
	one         [1][]byte // the memory of blocks while there is one
	start       int64     // of blocks: more has been dropped
	arrived     int64     // bytes
	passThrough bool      // it is not stored
	taken       int64     // of memory
	// reserved is whether memory for all of it is taken.
	reserved bool
	// awaiting is how many clients wait for the end, and read nothing before.
	awaiting int
	// unread is whether the last reader has left; it is set while mu is held.
	unread  atomic.Bool
	spare   []byte // a block that all readers have, for the next read
	fixed   bool   // no block is used again: a reader that has left may still send one
	done    bool
	err     error // of a body that is not complete
	reading bool  // some reader reads from source
	readers []*Reader
	first   Reader        // the memory of the first one,
	place   [1]*Reader    // and of readers while there is no other
	changed chan struct{} // closed when more has arrived, or was sent; nil where no reader waits
}

// Begin makes it the body that comes from a source.
func (b *Arriving) Begin(from Source) { b.from = from }

// finish reads a body to its end, for the store alone. What is left is bounded, and so is the time
// that an origin may take for each part of it.
func (b *Arriving) finish() {
	for b.fill() {
	}
}

// FinishArrived reads a body to its end for the store, where all of it has come with its head: that waits for nothing.
// So it is stored before a client that wants nothing of it has its answer, and may request it again.
func (b *Arriving) FinishArrived() {
	for b.claimArrived() {
		b.finish()
	}
}

// claimArrived sets reading where all that is left has come, and no reader reads it.
func (b *Arriving) claimArrived() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	claims := !b.done && !b.reading && b.worthFinishing() && b.hasArrived()
	b.reading = b.reading || claims
	return claims
}

// hasArrived reports whether reading what is left waits for nothing; b.mu is held.
func (b *Arriving) hasArrived() bool {
	buffered, ok := b.from.Reader.(Buffered)
	return b.from.Reader == http.NoBody || ok && int64(buffered.Buffered()) >= b.from.Length-b.arrived
}

// buffered reports whether reading more waits for nothing, so that it is sent with what was written before; b.mu is
// held.
func (b *Arriving) buffered() bool {
	buffered, ok := b.from.Reader.(Buffered)
	return ok && !b.reading && !b.full() && buffered.Buffered() > 0
}

// full reports whether the reader of a body that is passed through is too far behind; b.mu is held. One of several,
// where the disk has failed, holds up no reader: see drop.
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

// whenChanged returns what is closed when more has arrived or was sent; b.mu is held.
func (b *Arriving) whenChanged() <-chan struct{} {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// wake wakes those who wait; b.mu is held.
func (b *Arriving) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// available returns what has arrived from an offset on, in one block; b.mu is held.
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

// fill reads more from the origin, and reports whether the caller is to go on although no client
// waits. The caller has set reading.
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

// endAfter ends the body where the last read was the last one, or no reader waits for more; b.mu is held.
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
		b.reading = true // finish goes on
	}
}

// worthFinishing reports whether so little is left that it is read although no reader waits for it;
// b.mu is held.
func (b *Arriving) worthFinishing() bool {
	storable := !b.passThrough || b.spooled()
	return b.from.Finishes && storable && b.from.Length >= 0 && b.from.Length-b.arrived <= finishSize
}

// space returns memory for the next read; b.mu is held. Only the reader that has set reading uses
// it.
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
		if max(b.arrived+n, b.from.Length) > b.from.Most || !b.from.Budget.take(n) {
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

// takeSpare returns a block that was used before, or a new one; b.mu is held.
func (b *Arriving) takeSpare() []byte {
	space := b.spare
	if b.spare = nil; space == nil {
		space = make([]byte, blockSize)
	}
	return space
}

// append adds what was read into space; b.mu is held.
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

// beginPassThrough gives up storing the body; b.mu is held.
func (b *Arriving) beginPassThrough() {
	b.passThrough = true
	b.giveMemory()
	b.drop()
}

func (b *Arriving) giveMemory() {
	b.from.Budget.give(b.taken)
	b.taken = 0
}

// drop drops what all readers have, of a body that is passed through; b.mu is held. There are several where the
// disk has failed meanwhile: a reader too far behind breaks off then, and holds up no other.
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

// spooled reports whether all that has arrived is on disk; b.mu is held.
func (b *Arriving) spooled() bool { return b.from.Spool != nil && b.from.Spool.whole }

// endSpool closes the file that no reader reads any more; b.mu is held.
func (b *Arriving) endSpool() {
	if b.from.Spool != nil {
		_ = b.from.Spool.writer.Close() // what was not committed is removed
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

// Memory implements Body: the memory of what arrives is counted by its budget.
func (*Arriving) Memory() int { return 0 }

// Size implements Body.
func (b *Arriving) Size() int64 { return b.from.Length }

// Clients returns how many clients read the body, and how many wait for its end.
func (b *Arriving) Clients() (reading, awaiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.readers), b.awaiting
}
