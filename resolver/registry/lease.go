package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrLease means that another instance holds a lease.
var ErrLease = errors.New("lease held by another instance")

// Lease elects one of several instances that share a store: its holder. It is safe for concurrent use; its
// exported fields must not be changed after the first use. If the clocks of the instances differ by more than
// the remaining time of the lease at its renewal, the instance whose clock is ahead takes the lease from the
// holder, which notices by Check. A lease left behind by an instance whose clock was ahead is taken over once
// it was not renewed for Duration, by the clock of the next instance.
type Lease struct {
	Store Store
	Name  string // key of the lease, which names the elected task
	// Holder identifies the instance. It must be unique, also among earlier instances on the same machine.
	Holder string
	// Duration is the duration of the lease after Acquire, which renews it.
	Duration time.Duration
	Now      func() time.Time

	mu    sync.Mutex
	other LeaseHolder // the lease of another instance when it was last read
	since time.Time   // when other was first read
}

// Acquire takes the lease if it is free or expired, or renews it. The error wraps ErrLease if another instance
// holds it.
func (l *Lease) Acquire(ctx context.Context) error {
	return l.Store.Write(ctx, func(tx WriteTx) error {
		held, err := tx.Lease(l.Name)
		switch {
		case err != nil:
			return err
		case held.Holder != l.Holder && held.Until.After(l.Now()) && !l.released(held):
			return fmt.Errorf("%w of %s: %s, until %s", ErrLease, l.Name, held.Holder, held.Until.Format(time.RFC3339))
		}
		return tx.SetLease(l.Name, LeaseHolder{l.Holder, l.Now().Add(l.Duration)})
	})
}

// released reports whether the lease of another instance is expired because it was not renewed for Duration, by the own
// clock.
func (l *Lease) released(held LeaseHolder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if held.Holder != l.other.Holder || !held.Until.Equal(l.other.Until) {
		l.other, l.since = held, now
	}
	return now.Sub(l.since) >= l.Duration
}

// Check returns an error that wraps ErrLease unless this instance holds the lease. Called in a write
// transaction, it ensures that the writes of the transaction are those of the holder.
func (l *Lease) Check(tx Tx) error {
	held, err := tx.Lease(l.Name)
	switch {
	case err != nil:
		return err
	case held.Holder != l.Holder:
		return fmt.Errorf("%w of %s: %s", ErrLease, l.Name, held.Holder)
	case !held.Until.After(l.Now()):
		return fmt.Errorf("%w: own lease of %s expired", ErrLease, l.Name)
	}
	return nil
}

// Release releases the lease, so that another instance need not wait until it expires.
func (l *Lease) Release(ctx context.Context) error {
	return l.Store.Write(ctx, func(tx WriteTx) error {
		held, err := tx.Lease(l.Name)
		if err != nil || held.Holder != l.Holder {
			return err
		}
		return tx.RemoveLease(l.Name)
	})
}

// LeaseHolder is a lease with its holder.
type LeaseHolder struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// LeaseTx reads leases.
type LeaseTx interface {
	// Lease returns the holder of a lease; the zero value if it is free.
	Lease(name string) (LeaseHolder, error)
}

// LeaseWriteTx changes leases.
type LeaseWriteTx interface {
	SetLease(name string, h LeaseHolder) error
	RemoveLease(name string) error
}
