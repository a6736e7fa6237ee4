package body

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// Shareable reports whether clients other than the leader can read the body while it arrives, each at its own
// pace, because all of it is certain to be retained, on disk or in memory. For a body of unknown length this is
// known only at its end.
func (b *Arriving) Shareable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	onDisk := b.spooled() && b.from.Length >= 0 // space for all of it is reserved
	return onDisk || b.done && b.err == nil && !b.passThrough || b.reserve()
}

// Small reports whether a body is so small that followers wait for its end, so that a failure or a stall
// within it does not affect them.
func (b *Arriving) Small() bool { return b.from.Length >= 0 && b.from.Length <= finishSize }

// reserve takes the memory for the whole body from the budget, and reports whether that succeeded; b.mu is
// held.
func (b *Arriving) reserve() bool {
	length := b.from.Length
	if b.reserved || b.done {
		return !b.done
	}
	if b.passThrough || length < 0 || length > b.from.MaxStored || !b.from.Budget.take(length-b.taken) {
		return false
	}
	b.reserved, b.taken = true, length
	return true
}

// AwaitEnd waits until the whole body has arrived; it is read in the meantime, regardless of the pace of its
// readers. It also returns when the body turns out not to be stored, or the leader leaves, because a stalled
// origin must not delay other clients. ErrOverdue means that late fired first.
func (b *Arriving) AwaitEnd(ctx context.Context, late <-chan time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaiting++
	defer func() {
		b.awaiting--
		if b.awaiting == 0 {
			b.endUnread()
		}
	}()
	for !b.done && !b.passThrough && !b.AbandonedByLeader() {
		if !b.reading {
			b.reading = true
			b.from.Owner.Spawn(b.finish)
		}
		changed := b.whenChanged()
		b.mu.Unlock()
		err := error(nil)
		select {
		case <-changed:
		case <-b.from.LeaderHalfClosed:
		case <-late:
			err = ErrOverdue
		case <-ctx.Done():
			err = lifetime.Cause(ctx)
		}
		b.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// AbandonedByLeader reports whether the leader has left, or may have.
func (b *Arriving) AbandonedByLeader() bool {
	return Closed(b.from.LeaderHalfClosed) || b.unread.Load()
}

// awaited reports whether clients wait for the end of a body that may be stored; b.mu is held.
func (b *Arriving) awaited() bool { return b.awaiting > 0 && !b.passThrough }

// ErrOverdue means that an exchange takes too long.
var ErrOverdue = errors.New("timeout waiting for the exchange of another client")

// Closed reports whether a channel without values is closed; nil never is.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
