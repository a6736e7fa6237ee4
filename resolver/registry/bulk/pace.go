package bulk

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// pace adapts the number of units in a transaction, which locks out all other writers. While others write,
// transactions are short, so that each writer waits some milliseconds. After a while without other writers
// they grow again.
type pace struct {
	size  atomic.Int64 // atomic: the goroutine of batches reads it
	most  int64
	last  registry.Seq // the last row that the import wrote
	quiet int          // transactions since another writer was seen
}

const (
	// shortTransaction is the number of units in a transaction while others write.
	shortTransaction = 100
	// quietTransactions is the number of transactions without another writer after which they grow.
	quietTransactions = 32
	// yield is the pause between two transactions in which others can begin to write: a connection that waits
	// for the lock of SQLite polls every two milliseconds.
	yield = 3 * time.Millisecond
)

func newPace(most int) *pace {
	p := &pace{most: int64(most)}
	// A writer that is already active must not wait for a long first transaction.
	p.size.Store(min(shortTransaction, p.most))
	return p
}

// look detects, at the beginning of a transaction, whether others have written since the last one.
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

// wrote records the last row of a transaction, 0 if it wrote none.
func (p *pace) wrote(last registry.Seq) { p.last = max(p.last, last) }

// rest pauses, so that others can write.
func (p *pace) rest(ctx context.Context) {
	timer := time.NewTimer(yield)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
