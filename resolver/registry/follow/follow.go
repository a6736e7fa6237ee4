// Package follow keeps the store of a registry open, and follows its changes, for as long as a process runs.
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

// The times of a store.
const (
	reopenEvery   = 2 * time.Second        // where it cannot be opened
	changesEvery  = 250 * time.Millisecond // how often it is asked for changes
	changesWithin = 5 * time.Second        // how long a writer waits until its change is known here
)

// Config configures a Store. All fields but Report must be set.
type Config struct {
	// Open opens the store. mustExist is whether it is an error that there is none, which otherwise is made.
	Open func(ctx context.Context, mustExist bool) (registry.Store, error)
	// Report is called when the store can be asked no longer, with the reason, and with nil when it can be again.
	Report func(err error)
	After  func(time.Duration) <-chan time.Time
}

// Store is a store that is opened in the background and whose changes are followed, over all configurations that have
// it. It is safe for concurrent use.
type Store struct {
	*registry.Reopening
	config    Config
	once      sync.Once
	running   sync.WaitGroup
	cancel    context.CancelFunc
	tried     chan struct{} // closed when it was opened for the first time, or could not be
	opened    chan struct{} // closed when it was opened for the first time
	feed      atomic.Pointer[registry.Feed]
	mustExist atomic.Bool
	known     *resolver.Beginnings

	mu      sync.Mutex
	changed map[int]func(keys []registry.Key) // by the number of a configuration
	next    int
	fault   error
	// isTried and isOpened are whether tried and opened are closed, and wasWritable whether changes could be made once.
	isTried, isOpened, wasWritable bool
}

// New returns a store; nothing is opened.
func New(config Config) *Store {
	s := &Store{
		config: config, tried: make(chan struct{}), opened: make(chan struct{}), changed: make(map[int]func([]registry.Key)), cancel: func() {}, known: resolver.UnreadBeginnings(),
	}
	s.Reopening = registry.NewReopening(registry.ReopeningConfig{
		Open: s.open, Every: reopenEvery, After: config.After, Opened: s.state,
	})
	return s
}

// open opens the store, and reads what its names begin with before anybody is answered by it.
func (s *Store) open(ctx context.Context) (registry.Store, error) {
	store, err := s.config.Open(ctx, s.mustExist.Load())
	if err != nil {
		return nil, err
	}
	if err := registry.ReadBeginnings(ctx, store, s.known); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Known returns what the names of the store begin with, as it changes; until the store was opened, that is anything.
func (s *Store) Known() *resolver.Beginnings { return s.known }

// Opened returns what is closed when the store was opened for the first time.
func (s *Store) Opened() <-chan struct{} { return s.opened }

// Await waits until the store was opened for the first time, or ctx ends.
func (s *Store) Await(ctx context.Context) {
	select {
	case <-s.opened:
	case <-ctx.Done():
	}
}

// AwaitTried waits until the store was opened for the first time, or could not be, or ctx ends, and returns what is wrong.
func (s *Store) AwaitTried(ctx context.Context) (faults []string) {
	select {
	case <-s.tried:
	case <-ctx.Done():
	}
	return s.Faults()
}

// OpenNow opens a store that is there, in place of Start, and returns why it cannot be opened.
func (s *Store) OpenNow(ctx context.Context) error {
	s.mustExist.Store(true)
	_, err := s.Try(ctx)
	s.state(err)
	return err
}

// Start opens the store in the background, and follows its changes. Only the first call does.
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
				s.tell(ctx, []registry.Key{registry.Prefix("")})
			}
		})
	})
}

// Followed returns up to where changes were read; ok is false before the store was opened.
func (s *Store) Followed() (seq registry.Seq, ok bool) {
	feed := s.feed.Load()
	if feed == nil {
		return 0, false
	}
	return feed.At(), true
}

// followFrom follows the changes after a Seq until ctx ends, or the store must be opened again. Where its file is another one, that is
// opened as soon as it is there: an empty one that is made in its place would deny all names.
func (s *Store) followFrom(ctx context.Context, head registry.Seq) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var pause <-chan time.Time // until it is looked again whether changes are accepted
	feed := &registry.Feed{Store: s, Every: changesEvery, Changed: func(keys []registry.Key) { s.tell(ctx, keys) }, After: s.config.After, State: func(err error) {
		s.state(err)
		if errors.Is(err, registry.ErrReplaced) || errors.Is(err, registry.ErrReopen) {
			s.mustExist.Store(true)
			s.GiveUp(err)
			end()
		}
		if err == nil && s.Unwritable() != nil {
			select {
			case <-pause:
				s.TryWriting(ctx)
				pause = nil
			default:
			}
			if pause == nil {
				pause = s.config.After(reopenEvery)
			}
		}
	}}
	s.feed.Store(feed)
	feed.Run(ctx, head)
}

// Write implements registry.Store. When it returns, what was changed is answered by this process.
func (s *Store) Write(ctx context.Context, do func(registry.WriteTx) error) error {
	return s.caughtUp(ctx, s.Reopening.Write(ctx, do))
}

// Bulk implements registry.Store, as Write does.
func (s *Store) Bulk(ctx context.Context, do func(registry.WriteTx) error) error {
	return s.caughtUp(ctx, s.Reopening.Bulk(ctx, do))
}

// caughtUp reads the changes that were written, unless that has failed.
func (s *Store) caughtUp(ctx context.Context, err error) error {
	feed := s.feed.Load()
	if err != nil || feed == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changesWithin)
	defer cancel()
	_ = feed.Poll(ctx) // it is read again soon, and a fault is reported then
	return nil
}

// state records whether the store can be asked.
func (s *Store) state(err error) {
	isWritable := err == nil && s.Unwritable() == nil
	s.mu.Lock()
	changed := (err == nil) != (s.fault == nil)
	s.fault, s.wasWritable = err, s.wasWritable || isWritable
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

// Readiness returns why names of the store cannot be answered, or changed as its URL promises, and what is wrong although they can. What
// was promised once is no reason any more: what is in memory is answered, and all who share the store would be unready at once, also where it
// is away for two seconds only.
func (s *Store) Readiness() (unready, degraded []string) {
	s.mu.Lock()
	fault, isTried, isOpened, wasWritable := s.fault, s.isTried, s.isOpened, s.wasWritable
	s.mu.Unlock()
	switch {
	case !isTried:
		return []string{fmt.Sprintf("the registry is being opened: requests for its names wait, for %s at most; if it lasts, "+
			"see whether its database answers, and whether another urnd is changing its schema", OpeningTime)}, nil
	case fault != nil && !isOpened:
		return []string{"the registry cannot be asked: " + fault.Error()}, nil
	case fault != nil:
		return nil, []string{"the registry cannot be asked: " + fault.Error()}
	}
	if err := s.Degraded(); err != nil {
		degraded = append(degraded, "the registry: "+err.Error())
	}
	if err := s.Unwritable(); err != nil {
		text := "the registry can be asked, and not be changed: " + err.Error()
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
	return s.isOpened && s.fault == nil
}

// Writable reports whether names can be changed, as far as it is known.
func (s *Store) Writable() bool { return s.Available() && s.Unwritable() == nil }

// Faults are what is wrong with the store.
func (s *Store) Faults() []string {
	unready, degraded := s.Readiness()
	return append(unready, degraded...)
}

// tell passes changes on to all configurations. Where the first name of its kind is registered, all names of that kind have changed: they
// were not asked for before.
func (s *Store) tell(ctx context.Context, keys []registry.Key) {
	for _, key := range keys {
		if key == registry.Prefix("") {
			s.readKnown(ctx)
		} else if beginning, isNew := s.known.Add(key.Name); isNew {
			keys = append(keys, registry.Prefix(beginning))
		}
	}
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

// readKnown reads what names begin with where changes were lost. What cannot be read now is read when the store is opened again.
func (s *Store) readKnown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, changesWithin)
	defer cancel()
	_ = registry.ReadBeginnings(ctx, s.Reopening, s.known)
}

// Watch calls changed with the keys that change, until the function that it returns is called.
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

// End ends what Start has begun, and closes the store.
func (s *Store) End() {
	s.cancel()
	s.running.Wait()
	if err := s.Close(); err != nil && s.config.Report != nil {
		s.config.Report(err)
	}
}
