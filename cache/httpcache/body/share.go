package body

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// Shareable reports whether others than the one who leads can read the body while it arrives, each at a
// pace of its own: all of it is certain to stay, on disk or in memory. Where the end is not known it is so
// when that has come.
func (b *Arriving) Shareable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	onDisk := b.spooled() && b.from.Length >= 0 // where space for all of it is reserved
	return onDisk || b.done && b.err == nil && !b.passThrough || b.reserve()
}

// SoonComplete reports whether a body is so small that others wait for its end: what fails, or stops, in the middle
// of it is then not theirs.
func (b *Arriving) SoonComplete() bool { return b.from.Length >= 0 && b.from.Length <= finishSize }

// reserve takes the memory for all of a body, and reports whether there is as much; b.mu is held.
func (b *Arriving) reserve() bool {
	length := b.from.Length
	if b.reserved || b.done {
		return !b.done
	}
	if b.passThrough || length < 0 || length > b.from.Most || !b.from.Budget.take(length-b.taken) {
		return false
	}
	b.reserved, b.taken = true, length
	return true
}

// AwaitEnd waits until all has arrived, which is read on meanwhile whatever the pace of its readers; or
// until it turns out that it is not stored, or the client that leads leaves: what an origin does not send is not to
// hold up others. ErrOverdue means that late has come before.
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
		case <-b.from.LeaderEnded:
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

// AbandonedByLeader reports whether the client that leads has left, or may have.
func (b *Arriving) AbandonedByLeader() bool { return Closed(b.from.LeaderEnded) || b.unread.Load() }

// awaited reports whether clients wait for the end of a body that may be stored; b.mu is held.
func (b *Arriving) awaited() bool { return b.awaiting > 0 && !b.passThrough }

// ErrOverdue means that an exchange takes too long.
var ErrOverdue = errors.New("the exchange of another client takes too long")

// Closed reports whether a channel is closed on which nothing is sent; nil never is.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
