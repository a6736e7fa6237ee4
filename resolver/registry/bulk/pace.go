package bulk

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// pace is how many units are written in a transaction, in which nobody else can write. Where others do, they are few, so that
// each of them waits some milliseconds; where nobody has for a while, they become more again.
type pace struct {
	size  atomic.Int64 // who reads units needs it, too
	most  int64
	last  registry.Seq // the last row that was written
	quiet int          // transactions since somebody else has written
}

const (
	// shortTransaction is how many units are written in a transaction while others write.
	shortTransaction = 100
	// quietTransactions is how many of them, in which nobody else has written, show that nobody does any more.
	quietTransactions = 32
	// yield is how long others may begin to write between two transactions: who waits for the file of SQLite looks every two milliseconds.
	yield = 3 * time.Millisecond
)

func newPace(most int) *pace {
	p := &pace{most: int64(most)}
	p.size.Store(min(shortTransaction, p.most)) // who writes already is not to wait for the first one
	return p
}

// look finds out, at the beginning of a transaction, whether others have written since the last one.
func (p *pace) look(tx registry.Tx) error {
	if p.last == 0 {
		return nil
	}
	theirs, err := tx.Changes(p.last, 1)
	if err != nil {
		return err
	}
	if len(theirs) > 0 {
		p.quiet = 0
		p.size.Store(min(shortTransaction, p.most))
		return nil
	}
	if p.quiet++; p.quiet > quietTransactions {
		p.size.Store(min(2*p.size.Load(), p.most))
	}
	return nil
}

// wrote notes the last row of a transaction, 0 where it has written none.
func (p *pace) wrote(last registry.Seq) { p.last = max(p.last, last) }

// rest lets others write.
func (p *pace) rest(ctx context.Context) {
	timer := time.NewTimer(yield)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
