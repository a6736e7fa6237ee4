package httpcache

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/internal/lifetime"
)

// isShareable reports whether others than the one who leads can read the body while it arrives, each at a
// pace of its own: all of it is certain to stay, on disk or in memory. Where the end is not known it is so
// when that has come.
func (b *body) isShareable() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	isOnDisk := b.isSpooled() && b.length >= 0 // where space for all of it is reserved
	return isOnDisk || b.done && b.err == nil && !b.passing || b.reserve()
}

// isSoonComplete reports whether a body is so small that others wait for its end: what fails, or stops, in the middle
// of it is then not theirs.
func (b *body) isSoonComplete() bool { return b.length >= 0 && b.length <= finishSize }

// reserve takes the memory for all of a body, and reports whether there is as much; b.mu is held.
func (b *body) reserve() bool {
	if b.reserved || b.done || b.passing || b.length < 0 || b.length > b.most || !b.budget.take(b.length-b.taken) {
		return b.reserved && !b.done
	}
	b.reserved, b.taken = true, b.length
	return true
}

// awaitEnd waits until all has arrived, which is read on meanwhile whatever the pace of its readers; or
// until it turns out that it is not stored, or the client that leads leaves: what an origin does not send is not to
// hold up others. errOverdue means that late has come before.
func (b *body) awaitEnd(ctx context.Context, late <-chan time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.awaiting++
	defer func() {
		b.awaiting--
		if b.awaiting == 0 {
			b.endUnread()
		}
	}()
	for !b.done && !b.passing && !b.isDeserted() {
		if !b.reading {
			b.reading = true
			b.owner.Spawn(b.finish)
		}
		changed := b.whenChanged()
		b.mu.Unlock()
		err := error(nil)
		select {
		case <-changed:
		case <-b.leaderEnded:
		case <-late:
			err = errOverdue
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

// isDeserted reports whether the client that leads has left, or may have.
func (b *body) isDeserted() bool { return isClosed(b.leaderEnded) || b.unread.Load() }

// isAwaited reports whether clients wait for the end of a body that may be stored; b.mu is held.
func (b *body) isAwaited() bool { return b.awaiting > 0 && !b.passing }

// errOverdue means that an exchange takes too long.
var errOverdue = errors.New("the exchange of another client takes too long")

// isClosed reports whether a channel is closed on which nothing is sent; nil never is.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
