package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// followed is a store whose changes are followed, over all configurations that have it.
type followed struct {
	*registry.Reopening
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc
	isOpen  chan struct{} // closed when it was opened for the first time
	feed    atomic.Pointer[registry.Feed]
	noFile  bool // a file that there is not is an error, and not made

	mu      sync.Mutex
	changed map[int]func(keys []registry.Key) // by the number of a configuration
	next    int
	fault   error
	report  func(err error) // see resolverDependencies.registryState
}

// follow makes the store of a configuration; nothing is opened.
func follow(c config.Registry, report func(err error)) *followed {
	f := &followed{isOpen: make(chan struct{}), changed: make(map[int]func([]registry.Key)), cancel: func() {}, report: report}
	f.Reopening = registry.NewReopening(registry.ReopeningConfig{
		Open: func(ctx context.Context) (registry.Store, error) {
			if f.noFile {
				if path, ok := cli.StoreFile(c.Store); ok {
					if err := sqlite.MustExist(path); err != nil {
						return nil, err
					}
				}
			}
			return openStore(ctx, c)
		},
		Every: reopenEvery, After: time.After,
		Opened: f.state,
	})
	return f
}

// start opens the store in the background, and follows its changes. Only the first call does.
func (f *followed) start() {
	f.once.Do(func() {
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.Background())
		f.running.Go(func() {
			head := f.Run(ctx)
			if ctx.Err() != nil {
				return
			}
			close(f.isOpen)
			for ctx.Err() == nil {
				f.followFrom(ctx, head)
				head = f.Run(ctx)
				f.tell([]registry.Key{registry.Prefix("")})
			}
		})
	})
}

// followFrom follows the changes after a Seq until ctx ends, or the file of the store is another one. That is opened then, as soon
// as it is there: an empty one that is made in its place would deny all names.
func (f *followed) followFrom(ctx context.Context, head registry.Seq) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	feed := &registry.Feed{Store: f, Every: changesEvery, Changed: f.tell, After: time.After, State: func(err error) {
		f.state(err)
		if errors.Is(err, registry.ErrReplaced) {
			f.noFile = true
			f.GiveUp(err)
			end()
		}
	}}
	f.feed.Store(feed)
	feed.Run(ctx, head)
}

// Write implements registry.Store. When it returns, what was changed is answered by this process.
func (f *followed) Write(ctx context.Context, do func(registry.WriteTx) error) error {
	return f.caughtUp(ctx, f.Reopening.Write(ctx, do))
}

// Bulk implements registry.Store, as Write does.
func (f *followed) Bulk(ctx context.Context, do func(registry.WriteTx) error) error {
	return f.caughtUp(ctx, f.Reopening.Bulk(ctx, do))
}

// caughtUp reads the changes that were written, unless that has failed.
func (f *followed) caughtUp(ctx context.Context, err error) error {
	feed := f.feed.Load()
	if err != nil || feed == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changesWithin)
	defer cancel()
	_ = feed.Poll(ctx) // it is read again soon, and a fault is reported then
	return nil
}

// state records whether the store can be asked.
func (f *followed) state(err error) {
	f.mu.Lock()
	changed := (err == nil) != (f.fault == nil)
	f.fault = err
	f.mu.Unlock()
	if changed && f.report != nil {
		f.report(err)
	}
}

// faults are what is wrong with the store.
func (f *followed) faults() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		return nil
	}
	return []string{fmt.Sprintf("the registry cannot be asked: %s", f.fault)}
}

// tell passes changes on to all configurations.
func (f *followed) tell(keys []registry.Key) {
	f.mu.Lock()
	var all []func([]registry.Key)
	for _, changed := range f.changed {
		all = append(all, changed)
	}
	f.mu.Unlock()
	for _, changed := range all {
		changed(keys)
	}
}

// watch calls changed with the keys that change, until the function that it returns is called.
func (f *followed) watch(changed func(keys []registry.Key)) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.next
	f.next++
	f.changed[n] = changed
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.changed, n)
	}
}

func (f *followed) close() {
	f.cancel()
	f.running.Wait()
	if err := f.Close(); err != nil && f.report != nil {
		f.report(err)
	}
}
