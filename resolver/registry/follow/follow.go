// Package follow keeps the store of a registry open, and follows its changes, for the lifetime of a process. A
// function that opens the store enters; a registry.Store that reopens itself, callbacks with changed keys, and
// reasons for being unready or degraded leave. It follows no RFC; its order of changes is that of
// registry.Feed.
package follow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Intervals and timeouts of a store.
const (
	reopenEvery   = 2 * time.Second        // between tries to open it
	changesEvery  = 250 * time.Millisecond // polling interval for changes
	changesWithin = 5 * time.Second        // how long a writer waits until this process knows of its change
)

// Config configures a Store. All fields but Report are required.
type Config struct {
	// Open opens the store. With mustExist, a missing store is an error; otherwise it is created.
	Open func(ctx context.Context, mustExist bool) (registry.Store, error)
	// Report is called with an error when the store becomes unavailable, and with nil when it is available
	// again. It may be nil.
	Report func(err error)
	After  func(time.Duration) <-chan time.Time
}

// Store is a store that is opened in the background, and whose changes are followed. It outlives the
// configurations that use it. It is safe for concurrent use.
type Store struct {
	*registry.ReopeningStore
	config    Config
	once      sync.Once
	running   sync.WaitGroup
	cancel    context.CancelFunc
	tried     chan struct{} // closed after the first try to open the store, successful or not
	opened    chan struct{} // closed when the store was first opened
	feed      atomic.Pointer[registry.Feed]
	mustExist atomic.Bool
	prefixes  *resolver.PrefixSet
	// prefixesOutdated is set if prefixes may lack those of a store that has lost changes.
	prefixesOutdated atomic.Bool

	mu      sync.Mutex
	changed map[int]func(keys []registry.Key) // callbacks by number, one per configuration
	next    int
	failure error
	// isTried and isOpened report whether tried and opened are closed, wasWritable whether changes were ever
	// possible.
	isTried, isOpened, wasWritable bool
}

// New returns a Store that is not yet open.
func New(config Config) *Store {
	s := &Store{
		config: config, tried: make(chan struct{}), opened: make(chan struct{}),
		changed: make(map[int]func([]registry.Key)), cancel: func() {}, prefixes: resolver.UnloadedPrefixes(),
	}
	s.ReopeningStore = registry.NewReopeningStore(registry.ReopeningStoreConfig{
		Open: s.open, Every: reopenEvery, After: config.After, Opened: s.state,
	})
	return s
}

// open opens the store, and reads the beginnings of its names before it serves any request.
func (s *Store) open(ctx context.Context) (registry.Store, error) {
	store, err := s.config.Open(ctx, s.mustExist.Load())
	if err != nil {
		return nil, err
	}
	if err := registry.ReadPrefixes(ctx, store, s.prefixes); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Prefixes returns the beginnings of the names of the store, which is kept up to date. Until the store is open,
// any name may exist.
func (s *Store) Prefixes() *resolver.PrefixSet { return s.prefixes }

// Opened returns a channel that is closed when the store was first opened.
func (s *Store) Opened() <-chan struct{} { return s.opened }

// Await waits until the store was first opened, or ctx ends.
func (s *Store) Await(ctx context.Context) {
	select {
	case <-s.opened:
	case <-ctx.Done():
	}
}

// AwaitFirstTry waits for the first try to open the store, or the end of ctx, and returns Failures.
func (s *Store) AwaitFirstTry(ctx context.Context) (failures []string) {
	select {
	case <-s.tried:
	case <-ctx.Done():
	}
	return s.Failures()
}

// OpenSync opens an existing store synchronously, in place of Start, and returns an error if that fails.
func (s *Store) OpenSync(ctx context.Context) error {
	s.mustExist.Store(true)
	_, err := s.TryOpen(ctx)
	s.state(err)
	return err
}

// Start opens the store in the background, and follows its changes. Only the first call has an effect.
func (s *Store) Start() {
	s.once.Do(func() {
		var ctx context.Context
		ctx, s.cancel = context.WithCancel(context.Background())
		s.running.Go(func() {
			head := s.Run(ctx)
			if ctx.Err() != nil {
				return
			}
			for ctx.Err() == nil {
				s.followFrom(ctx, head)
				if ctx.Err() != nil {
					return
				}
				head = s.Run(ctx)
				s.report(ctx, []registry.Key{registry.Prefix("")})
			}
		})
	})
}

// Followed returns the Seq up to which changes were read; ok is false before the store was opened.
func (s *Store) Followed() (seq registry.Seq, ok bool) {
	feed := s.feed.Load()
	if feed == nil {
		return 0, false
	}
	return feed.Seq(), true
}

// followFrom follows the changes after a Seq until ctx ends, or the store must be opened again. A replaced file
// is opened only once it exists: an empty store created in its place would deny all names.
func (s *Store) followFrom(ctx context.Context, head registry.Seq) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var pause <-chan time.Time // until the next check whether changes are accepted
	feed := &registry.Feed{
		Store: s, Every: changesEvery, Changed: func(keys []registry.Key) { s.report(ctx, keys) },
		After: s.config.After, State: func(err error) {
			s.state(err)
			if errors.Is(err, registry.ErrReplaced) || errors.Is(err, registry.ErrReopen) {
				s.mustExist.Store(true)
				s.Abandon(err)
				end()
			}
			if err == nil {
				s.rereadPrefixes(ctx)
			}
			if err == nil && s.ReadOnlyErr() != nil {
				select {
				case <-pause:
					s.RecheckWritable(ctx)
					pause = nil
				default:
				}
				if pause == nil {
					pause = s.config.After(reopenEvery)
				}
			}
		},
	}
	s.feed.Store(feed)
	feed.Run(ctx, head)
}

// Write implements registry.Store. When it returns, this process serves the changed entries.
func (s *Store) Write(ctx context.Context, do func(registry.WriteTx) error) error {
	return s.caughtUp(ctx, s.ReopeningStore.Write(ctx, do))
}

// Bulk implements registry.Store, with the guarantee of Write.
func (s *Store) Bulk(ctx context.Context, do func(registry.WriteTx) error) error {
	return s.caughtUp(ctx, s.ReopeningStore.Bulk(ctx, do))
}

// caughtUp reads the written changes, unless the write has failed.
func (s *Store) caughtUp(ctx context.Context, err error) error {
	feed := s.feed.Load()
	if err != nil || feed == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changesWithin)
	defer cancel()
	_ = feed.Poll(ctx) // an error is reported by the next poll
	return nil
}

// state records whether the store is available.
func (s *Store) state(err error) {
	writable := err == nil && s.ReadOnlyErr() == nil
	s.mu.Lock()
	changed := (err == nil) != (s.failure == nil)
	s.failure, s.wasWritable = err, s.wasWritable || writable
	if err == nil && !s.isOpened {
		s.isOpened = true
		close(s.opened)
	}
	if !s.isTried {
		s.isTried = true
		close(s.tried)
	}
	s.mu.Unlock()
	if changed && s.config.Report != nil {
		s.config.Report(err)
	}
}

// Readiness returns the reasons why the store is unready (its names cannot be resolved, or cannot be changed
// although its URL requires that), and the problems by which it is only degraded. A store that was ready once
// does not become unready: cached responses are still served, and otherwise all processes that share the store
// would become unready at the same time, even in an outage of two seconds.
func (s *Store) Readiness() (unready, degraded []string) {
	s.mu.Lock()
	failure, isTried, isOpened, wasWritable := s.failure, s.isTried, s.isOpened, s.wasWritable
	s.mu.Unlock()
	switch {
	case !isTried:
		return []string{fmt.Sprintf("opening the registry: requests for its names wait up to %s; if it takes long, "+
			"check that its database responds, and that no other urnd is migrating its schema", OpeningTimeout)}, nil
	case failure != nil && !isOpened:
		return []string{"the registry is unavailable: " + failure.Error()}, nil
	case failure != nil:
		return nil, []string{"the registry is unavailable: " + failure.Error()}
	}
	if err := s.Degraded(); err != nil {
		degraded = append(degraded, "the registry: "+err.Error())
	}
	if err := s.ReadOnlyErr(); err != nil {
		text := "the registry is read-only: " + err.Error()
		if errors.Is(err, registry.ErrReadOnly) && !wasWritable {
			return []string{text}, degraded
		}
		degraded = append(degraded, text)
	}
	return nil, degraded
}

// Available reports whether names can be looked up.
func (s *Store) Available() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isOpened && s.failure == nil
}

// Writable reports whether names can be changed, as far as known.
func (s *Store) Writable() bool { return s.Available() && s.ReadOnlyErr() == nil }

// Failures returns all problems of the store.
func (s *Store) Failures() []string {
	unready, degraded := s.Readiness()
	return append(unready, degraded...)
}

// report reports changed keys to all configurations. The first name with a new beginning changes all names with
// that beginning: they were not requested from this registry before.
func (s *Store) report(ctx context.Context, keys []registry.Key) {
	for _, key := range keys {
		if key == registry.Prefix("") {
			_ = s.readPrefixes(ctx) // an error is handled by rereadPrefixes
		} else if beginning, isNew := s.prefixes.Add(key.Name); isNew {
			keys = append(keys, registry.Prefix(beginning))
		}
	}
	s.notify(keys)
}

// notify calls the functions of Watch.
func (s *Store) notify(keys []registry.Key) {
	s.mu.Lock()
	var all []func([]registry.Key)
	for _, changed := range s.changed {
		all = append(all, changed)
	}
	s.mu.Unlock()
	for _, changed := range all {
		changed(keys)
	}
}

// readPrefixes reads the beginnings of names again after a loss of changes, and reports whether that succeeds;
// otherwise rereadPrefixes does so later.
func (s *Store) readPrefixes(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, changesWithin)
	defer cancel()
	err := registry.ReadPrefixes(ctx, s.ReopeningStore, s.prefixes)
	s.prefixesOutdated.Store(err != nil)
	return err == nil
}

// rereadPrefixes repeats a failed readPrefixes. Until then names with new beginnings were not requested from the store.
func (s *Store) rereadPrefixes(ctx context.Context) {
	if s.prefixesOutdated.Load() && s.readPrefixes(ctx) {
		s.notify([]registry.Key{registry.Prefix("")})
	}
}

// Watch calls changed with each set of changed keys, until the returned function is called.
func (s *Store) Watch(changed func(keys []registry.Key)) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.next
	s.next++
	s.changed[n] = changed
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.changed, n)
	}
}

// Stop ends the goroutine of Start, and closes the store.
func (s *Store) Stop() {
	s.cancel()
	s.running.Wait()
	if err := s.Close(); err != nil && s.config.Report != nil {
		s.config.Report(err)
	}
}
