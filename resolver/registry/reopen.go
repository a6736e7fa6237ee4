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

// ReopeningStore is a Store that is opened in the background, with retries until it succeeds. Until then its methods
// return the error of the last try. Run opens it, and must have returned before Close is called.
type ReopeningStore struct {
	config ReopeningStoreConfig

	opened atomic.Pointer[opened]
	mu     sync.Mutex
	err    error   // of the last try
	former []Store // stores that were abandoned, but may still be in use
}

// ReopeningStoreConfig configures a ReopeningStore. All fields are required.
type ReopeningStoreConfig struct {
	Open func(ctx context.Context) (Store, error)
	// Every is the delay between retries.
	Every time.Duration
	After func(time.Duration) <-chan time.Time
	// Opened is called with the result of each try.
	Opened func(err error)
}

type opened struct{ store Store }

// NewReopeningStore returns a ReopeningStore.
func NewReopeningStore(config ReopeningStoreConfig) *ReopeningStore {
	return &ReopeningStore{config: config, err: fmt.Errorf("%w: opening it", ErrUnavailable)}
}

// Run opens the store. It returns once the store is open, with its Head at that time, or when ctx ends.
func (r *ReopeningStore) Run(ctx context.Context) (head Seq) {
	for {
		head, err := r.TryOpen(ctx)
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

// TryOpen tries once to open the store, and returns its Head.
func (r *ReopeningStore) TryOpen(ctx context.Context) (head Seq, err error) {
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

// Abandon abandons the open store because of an error; Run must then open it again. The store is closed only by
// Close, since other goroutines may still use it.
func (r *ReopeningStore) Abandon(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.opened.Swap(nil); o != nil {
		r.former = append(r.former, o.store)
	}
	r.err = err
}

// get returns the store, or the error of the last try.
func (r *ReopeningStore) get() (Store, error) {
	if o := r.opened.Load(); o != nil {
		return o.store, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return nil, r.err
}

// ReadOnlyErr returns why the open store is read-only; nil if it is not, or if that is unknown.
func (r *ReopeningStore) ReadOnlyErr() error {
	s, err := r.get()
	if err != nil {
		return nil //nolint:nilerr // it is not open
	}
	if u, ok := s.(interface{ ReadOnlyErr() error }); ok {
		return u.ReadOnlyErr()
	}
	return nil
}

// Degraded returns a problem of the open store that does not prevent reads and writes; nil if there is none, or
// if that is unknown.
func (r *ReopeningStore) Degraded() error {
	s, err := r.get()
	if err != nil {
		return nil //nolint:nilerr // it is not open
	}
	if d, ok := s.(interface{ Degraded() error }); ok {
		return d.Degraded()
	}
	return nil
}

// RecheckWritable checks again whether the open store is writable, after it was found to be read-only.
func (r *ReopeningStore) RecheckWritable(ctx context.Context) {
	s, err := r.get()
	if err != nil {
		return // not open
	}
	if t, ok := s.(interface{ RecheckWritable(ctx context.Context) }); ok {
		t.RecheckWritable(ctx)
	}
}

// Lookup implements Store.
func (r *ReopeningStore) Lookup(ctx context.Context, key Key) (Entry, error) {
	s, err := r.get()
	if err != nil {
		return Entry{}, err
	}
	return s.Lookup(ctx, key)
}

// Floor implements Store.
func (r *ReopeningStore) Floor(ctx context.Context, text string) (Entry, error) {
	s, err := r.get()
	if err != nil {
		return Entry{}, err
	}
	return s.Floor(ctx, text)
}

// Head implements Store.
func (r *ReopeningStore) Head(ctx context.Context) (Seq, error) {
	s, err := r.get()
	if err != nil {
		return 0, err
	}
	return s.Head(ctx)
}

// Read implements Store.
func (r *ReopeningStore) Read(ctx context.Context, f func(Tx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Read(ctx, f)
}

// Write implements Store.
func (r *ReopeningStore) Write(ctx context.Context, f func(WriteTx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Write(ctx, f)
}

// Bulk implements Store.
func (r *ReopeningStore) Bulk(ctx context.Context, f func(WriteTx) error) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Bulk(ctx, f)
}

// Notifications implements Store.
func (r *ReopeningStore) Notifications() <-chan struct{} {
	s, err := r.get()
	if err != nil {
		return nil
	}
	return s.Notifications()
}

// Verify implements Store.
func (r *ReopeningStore) Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Verify(ctx, report, progress)
}

// Dump implements Store.
func (r *ReopeningStore) Dump(ctx context.Context, to io.Writer, made time.Time, progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Dump(ctx, to, made, progress)
}

// Load implements Store.
func (r *ReopeningStore) Load(ctx context.Context, from io.Reader, progress func(done, all Seq)) error {
	s, err := r.get()
	if err != nil {
		return err
	}
	return s.Load(ctx, from, progress)
}

// Close implements Store.
func (r *ReopeningStore) Close() error {
	r.Abandon(ErrUnavailable)
	var err error
	for _, store := range r.former {
		err = errors.Join(err, store.Close())
	}
	return err
}
