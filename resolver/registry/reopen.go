package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Reopening is a Store that is opened in the background, with retries until it succeeds. Until then its methods
// return the error of the last try. Run opens it, and must have returned before Close is called.
type Reopening struct {
	config ReopeningConfig

	opened atomic.Pointer[opened]
	mu     sync.Mutex
	err    error   // of the last try
	former []Store // stores that were abandoned, but may still be in use
}

// ReopeningConfig configures a Reopening. All fields are required.
type ReopeningConfig struct {
	Open func(ctx context.Context) (Store, error)
	// Every is the delay between retries.
	Every time.Duration
	After func(time.Duration) <-chan time.Time
	// Opened is called with the result of each try.
	Opened func(err error)
}

type opened struct{ store Store }

// NewReopening returns a Reopening.
func NewReopening(config ReopeningConfig) *Reopening {
	return &Reopening{config: config, err: fmt.Errorf("%w: opening it", ErrNoStore)}
}

// Run opens the store. It returns once the store is open, with its Head at that time, or when ctx ends.
func (r *Reopening) Run(ctx context.Context) (head Seq) {
	for {
		head, err := r.Try(ctx)
		if ctx.Err() != nil {
			return 0
		}
		r.config.Opened(err)
		if err == nil {
			return head
		}
		select {
		case <-ctx.Done():
			return 0
		case <-r.config.After(r.config.Every):
		}
	}
}

// Try tries once to open the store, and returns its Head.
func (r *Reopening) Try(ctx context.Context) (head Seq, err error) {
	store, err := r.config.Open(ctx)
	if err == nil {
		if head, err = store.Head(ctx); err != nil {
			err = errors.Join(err, store.Close())
		}
	}
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
	if err == nil {
		r.opened.Store(&opened{store})
	}
	return head, err
}

// GiveUp abandons the open store because of an error; Run must then open it again. The store is closed only by
// Close, since other goroutines may still use it.
func (r *Reopening) GiveUp(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.opened.Swap(nil); o != nil {
		r.former = append(r.former, o.store)
	}
	r.err = err
}

// get returns the store, or the error of the last try.
func (r *Reopening) get() (Store, error) {
	if o := r.opened.Load(); o != nil {
		return o.store, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return nil, r.err
}

// Unwritable returns why the open store is read-only; nil if it is not, or if that is unknown.
func (r *Reopening) Unwritable() error {
	s, err := r.get()
	if err != nil {
		return nil //nolint:nilerr // it is not open
	}
	if u, ok := s.(interface{ Unwritable() error }); ok {
		return u.Unwritable()
	}
	return nil
}

// Degraded returns a problem of the open store that does not prevent reads and writes; nil if there is none, or
// if that is unknown.
func (r *Reopening) Degraded() error {
	s, err := r.get()
	if err != nil {
		return nil //nolint:nilerr // it is not open
	}
	if d, ok := s.(interface{ Degraded() error }); ok {
		return d.Degraded()
	}
	return nil
}

// TryWriting checks again whether the open store is writable, after it was found to be read-only.
func (r *Reopening) TryWriting(ctx context.Context) {
	s, err := r.get()
	if err != nil {
		return // not open
	}
	if t, ok := s.(interface{ TryWriting(ctx context.Context) }); ok {
		t.TryWriting(ctx)
	}
}

// Lookup implements Store.
func (r *Reopening) Lookup(ctx context.Context, key Key) (Entry, error) {
	s, err := r.get()
	if err != nil {
		return Entry{}, err
	}
	return s.Lookup(ctx, key)
}

// Floor implements Store.
func (r *Reopening) Floor(ctx context.Context, text string) (Entry, error) {
	s, err := r.get()
	if err != nil {
		return Entry{}, err
	}
	return s.Floor(ctx, text)
}

// Head implements Store.
func (r *Reopening) Head(ctx context.Context) (Seq, error) {
	s, err := r.get()
	if err != nil {
		return 0, err
	}
	return s.Head(ctx)
}

// Read implements Store.
func (r *Reopening) Read(ctx context.Context, f func(Tx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Read(ctx, f)
}

// Write implements Store.
func (r *Reopening) Write(ctx context.Context, f func(WriteTx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Write(ctx, f)
}

// Bulk implements Store.
func (r *Reopening) Bulk(ctx context.Context, f func(WriteTx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Bulk(ctx, f)
}

// Hint implements Store.
func (r *Reopening) Hint() <-chan struct{} {
	s, err := r.get()
	if err != nil {
		return nil
	}
	return s.Hint()
}

// Verify implements Store.
func (r *Reopening) Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Verify(ctx, report, progress)
}

// Dump implements Store.
func (r *Reopening) Dump(ctx context.Context, to io.Writer, made time.Time, progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Dump(ctx, to, made, progress)
}

// Load implements Store.
func (r *Reopening) Load(ctx context.Context, from io.Reader, progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Load(ctx, from, progress)
}

// Close implements Store.
func (r *Reopening) Close() error {
	r.GiveUp(ErrNoStore)
	var err error
	for _, store := range r.former {
		err = errors.Join(err, store.Close())
	}
	return err
}
