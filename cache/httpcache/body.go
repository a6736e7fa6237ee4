package httpcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

const (
	// blockSize is the memory that a body is read into at a time.
	blockSize = 64 << 10
	// firstBlock is that of a body whose length is not known.
	firstBlock = 4 << 10
	// window is how far the fastest reader of a body that is not stored may be ahead of the slowest.
	window = 1 << 20
	// finishSize is how much of a body is read to its end although nobody waits for it.
	finishSize = 256 << 10
)

// errAbandoned means that all readers of a body have left.
var errAbandoned = fmt.Errorf("all clients have left: %w", context.Canceled)

// owner is who has asked an origin for a body.
type owner interface {
	// Spawn runs a function in the background, within the life of the owner.
	Spawn(run func())
	// End ends the exchange with the origin, with nil after a complete body.
	End(err error)
	// Complete or Incomplete is called once, when nothing more comes, while the body is locked. Complete says that all has come and may be
	// stored: content is all of it unless isInMemory is false, and then the spool has it, which is otherwise nil for none.
	Complete(size int64, content blocks, isInMemory bool, spool *spool)
	Incomplete()
}

// source is where a body comes from, and what is done with it.
type source struct {
	reader io.ReadCloser
	length int64 // -1 if unknown
	most   int64 // that may be stored
	budget *budget
	owner  owner
	// spool has what has arrived on disk; nil for none.
	spool *spool
	// finishes is whether little that is left is read although all clients have left: not where the
	// exchange may still read the body of a request.
	finishes bool
	// leaderEnded is closed when the client that leads has ended its side, and may have left; nil never is.
	leaderEnded <-chan struct{}
}

// body is the content of a response while it arrives. It is read from the origin by whichever
// reader needs more first, so that it takes no goroutine of its own. Once more has arrived than
// may be stored it is only passed through: what all readers have is dropped, and nobody can begin to
// read any more. It must not be copied, and is safe for concurrent use. begin must be called before all else.
type body struct {
	source  // its spool is nil once nobody reads it any more
	mu      sync.Mutex
	blocks  blocks
	one     [1][]byte // the memory of blocks while there is one
	start   int64     // of blocks: more has been dropped
	arrived int64     // so many octets
	passing bool      // it is not stored
	taken   int64     // of memory
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
	readers []*bodyReader
	first   bodyReader     // the memory of the first one,
	place   [1]*bodyReader // and of readers while there is no other
	changed chan struct{}  // closed when more has arrived, or was sent; nil where nobody waits
}

// begin makes it the body that comes from a source.
func (b *body) begin(from source) { b.source = from }

// finish reads a body to its end, for the store alone. What is left is bounded, and so is the time
// that an origin may take for each part of it.
func (b *body) finish() {
	for b.fill() {
	}
}

// finishCome reads a body to its end for the store, where all of it has come with its head: that waits for nothing. So it is stored before
// a client that wants nothing of it has its answer, and may ask for it again.
func (b *body) finishCome() {
	for b.claimCome() {
		b.finish()
	}
}

// claimCome sets reading where all that is left has come, and nobody reads it.
func (b *body) claimCome() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	claims := !b.done && !b.reading && b.isWorthFinishing() && b.hasCome()
	b.reading = b.reading || claims
	return claims
}

// hasCome reports whether reading what is left waits for nothing; b.mu is held.
func (b *body) hasCome() bool {
	buffered, ok := b.reader.(Buffered)
	return b.reader == http.NoBody || ok && int64(buffered.Buffered()) >= b.length-b.arrived
}

// comes reports whether reading more waits for nothing, so that it is sent with what was written before; b.mu is held.
func (b *body) comes() bool {
	buffered, ok := b.reader.(Buffered)
	return ok && !b.reading && !b.isFull() && buffered.Buffered() > 0
}

// isFull reports whether the reader of a body that is passed on is too far behind; b.mu is held. One of several, where the
// disk has failed, holds up nobody: see drop.
func (b *body) isFull() bool {
	return b.passing && !b.isSpooled() && len(b.readers) == 1 && b.arrived-b.start >= window
}

// wait waits until more has arrived or was sent; b.mu is held.
func (b *body) wait() {
	changed := b.whenChanged()
	b.mu.Unlock()
	<-changed
	b.mu.Lock()
}

// whenChanged returns what is closed when more has arrived or was sent; b.mu is held.
func (b *body) whenChanged() <-chan struct{} {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// wake wakes those who wait; b.mu is held.
func (b *body) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// available returns what has arrived from an offset on, in one block; b.mu is held.
func (b *body) available(at, end int64) []byte {
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
func (b *body) fill() (more bool) {
	b.mu.Lock()
	space := b.space()
	b.mu.Unlock()
	n, err := b.reader.Read(space)
	spooled := b.spool != nil && b.spool.whole && n > 0 && b.spool.write(space[:n])
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spool != nil && n > 0 {
		b.spool.whole = spooled
	}
	b.append(space, n)
	b.reading = false
	b.endAfter(err)
	b.wake()
	return !b.done && b.reading
}

// endAfter ends the body where the last read was the last one, or nobody waits for more; b.mu is held.
func (b *body) endAfter(err error) {
	isUnwanted := len(b.readers) == 0 && !b.isAwaited()
	switch {
	case errors.Is(err, io.EOF) && b.length >= 0 && b.arrived != b.length:
		b.finished(io.ErrUnexpectedEOF)
	case errors.Is(err, io.EOF), err == nil && b.arrived == b.length:
		b.finished(nil)
	case err != nil:
		b.finished(err)
	case isUnwanted && !b.isWorthFinishing():
		b.owner.End(errAbandoned)
		b.finished(errAbandoned)
	case isUnwanted, b.isAwaited():
		b.reading = true // finish goes on
	}
}

// isWorthFinishing reports whether so little is left that it is read although nobody waits for it;
// b.mu is held.
func (b *body) isWorthFinishing() bool {
	return b.finishes && (!b.passing || b.isSpooled()) && b.length >= 0 && b.length-b.arrived <= finishSize
}

// space returns memory for the next read; b.mu is held. Only the reader that has set reading uses
// it.
func (b *body) space() []byte {
	if last := len(b.blocks) - 1; last >= 0 {
		block := b.blocks[last]
		if room := cap(block) - len(block); room > 0 {
			return block[len(block):cap(block)]
		}
	}
	n := int64(blockSize)
	switch {
	case b.length >= 0:
		n = min(n, b.length-b.arrived)
	case b.arrived == 0:
		n = firstBlock
	}
	if !b.passing && !b.reserved {
		if max(b.arrived+n, b.length) > b.most || !b.budget.take(n) {
			b.pass()
		} else {
			b.taken += n
		}
	}
	if b.passing {
		return b.takeSpare()
	}
	return make([]byte, n)
}

// takeSpare returns a block that was used before, or a new one; b.mu is held.
func (b *body) takeSpare() []byte {
	space := b.spare
	if b.spare = nil; space == nil {
		space = make([]byte, blockSize)
	}
	return space
}

// append adds what was read into space; b.mu is held.
func (b *body) append(space []byte, n int) {
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
	if b.passing {
		b.drop()
	}
}

// pass gives up to store the body; b.mu is held.
func (b *body) pass() {
	b.passing = true
	b.giveMemory()
	b.drop()
}

func (b *body) giveMemory() {
	b.budget.give(b.taken)
	b.taken = 0
}

// drop drops what all readers have, of a body that is passed on; b.mu is held. There are several where the
// disk has failed meanwhile: whoever is too far behind breaks off then, and holds up nobody.
func (b *body) drop() {
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
		inFile := b.isSpooled() && b.arrived-b.start > window
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
func (b *body) finished(err error) {
	if b.done {
		return
	}
	b.done, b.err = true, err
	_ = b.reader.Close()
	b.owner.End(err)
	b.giveMemory()
	var spool *spool
	if err == nil && b.isSpooled() {
		spool = b.spool
	}
	switch {
	case err != nil, b.passing && spool == nil:
		b.owner.Incomplete()
	case b.passing:
		b.owner.Complete(b.arrived, nil, false, spool)
	default:
		b.owner.Complete(b.arrived, b.blocks.trimmed(), true, spool)
	}
	if len(b.readers) == 0 {
		b.endSpool()
	}
	b.wake()
}

// isSpooled reports whether all that has arrived is on disk; b.mu is held.
func (b *body) isSpooled() bool { return b.spool != nil && b.spool.whole }

// endSpool closes the file that nobody reads any more; b.mu is held.
func (b *body) endSpool() {
	if b.spool != nil {
		_ = b.spool.writer.Close() // what was not committed is removed
		b.spool = nil
	}
}

// open implements content.
func (b *body) open(ctx context.Context, part span) (Content, error) {
	if b.isShareable() {
		if r := b.join(ctx, part); r != nil {
			return r, nil
		}
	}
	return nil, errAbandoned
}

// memory implements content: the memory of what arrives is counted by its budget.
func (*body) memory() int { return 0 }

// size implements content.
func (b *body) size() int64 { return b.length }

// Clients returns how many clients read the body, and how many wait for its end.
func (b *body) Clients() (reading, awaiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.readers), b.awaiting
}
