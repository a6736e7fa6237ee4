package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrLease means that another instance has a lease.
var ErrLease = errors.New("another instance has the lease")

// Lease lets one of several instances on a store do something: the one that holds it. Its fields are
// not changed after its first use; it is then safe for concurrent use. Where the clocks of the instances differ by more
// than what is left of For when the holder renews it, that with the latest one takes it from the others, which notice
// (Check). What an instance leaves whose clock was ahead is taken when it was not renewed for For by the clock of the next one.
type Lease struct {
	Store Store
	Name  string // of what is done: the key of the lease
	// Holder identifies the instance. No other one, also no earlier one of this machine, has it.
	Holder string
	// For is how long it is held after Acquire, unless it is acquired again.
	For time.Duration
	Now func() time.Time

	mu    sync.Mutex
	other Holding   // what another instance had when it was read last
	since time.Time // when that was read first
}

// Acquire takes the lease where nobody holds it, or renews it. The error wraps ErrLease where another
// instance holds it.
func (l *Lease) Acquire(ctx context.Context) error {
	return l.Store.Write(ctx, func(tx WriteTx) error {
		held, err := tx.Lease(l.Name)
		switch {
		case err != nil:
			return err
		case held.Holder != l.Holder && held.Until.After(l.Now()) && !l.isLeft(held):
			return fmt.Errorf("%w of %s: %s, until %s", ErrLease, l.Name, held.Holder, held.Until.Format(time.RFC3339))
		}
		return tx.SetLease(l.Name, Holding{l.Holder, l.Now().Add(l.For)})
	})
}

// isLeft reports whether what another instance has was not renewed for as long as it could have been held.
func (l *Lease) isLeft(held Holding) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if held.Holder != l.other.Holder || !held.Until.Equal(l.other.Until) {
		l.other, l.since = held, now
	}
	return now.Sub(l.since) >= l.For
}

// Check returns an error that wraps ErrLease unless the lease is held: what is written in the same transaction
// is written by its holder.
func (l *Lease) Check(tx Tx) error {
	held, err := tx.Lease(l.Name)
	switch {
	case err != nil:
		return err
	case held.Holder != l.Holder:
		return fmt.Errorf("%w of %s: %s", ErrLease, l.Name, held.Holder)
	case !held.Until.After(l.Now()):
		return fmt.Errorf("%w of %s, or may have it: this one has run out", ErrLease, l.Name)
	}
	return nil
}

// Release gives the lease up, so that another instance need not wait until it has run out.
func (l *Lease) Release(ctx context.Context) error {
	return l.Store.Write(ctx, func(tx WriteTx) error {
		held, err := tx.Lease(l.Name)
		if err != nil || held.Holder != l.Holder {
			return err
		}
		return tx.RemoveLease(l.Name)
	})
}

// Holding says which instance has a lease.
type Holding struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

// LeaseTx reads leases.
type LeaseTx interface {
	// Lease returns who has a lease; the zero value for nobody.
	Lease(name string) (Holding, error)
}

// LeaseWriteTx changes leases.
type LeaseWriteTx interface {
	SetLease(name string, h Holding) error
	RemoveLease(name string) error
}
