package certificate

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
)

// Storage keeps certificates, their keys, the account, and the challenges that wait for the authority, by names with
// slashes. Machines that share one obtain each certificate once, by its locks.
type Storage = certmagic.Storage

// FileStorage returns a storage in a directory, which is made when something is stored. Files are for this user alone.
func FileStorage(directory string) Storage { return &certmagic.FileStorage{Path: directory} }

// Shelf is where several machines keep what they share. Its errors wrap fs.ErrNotExist for a key that is not there.
type Shelf interface {
	Get(ctx context.Context, key string) (content []byte, at time.Time, err error)
	Put(ctx context.Context, key string, content []byte) error
	// Delete removes a key, and those below it.
	Delete(ctx context.Context, key string) error
	Keys(ctx context.Context, prefix string) ([]string, error)
	// Lease returns what takes or renews a lease for half a minute, and reports whether it is held, and what gives it up.
	Lease(name, holder string) (acquire func(context.Context) (bool, error), release func(context.Context) error)
}

// SharedStorage returns a storage on a shelf. What was stored or loaded is also in a storage of this machine, which
// has it while the shelf cannot be asked, and after the shelf has lost it.
func SharedStorage(shelf Shelf, own Storage) Storage {
	return &shared{Shelf: shelf, own: own, locks: make(map[string]func(context.Context) error)}
}

type shared struct {
	Shelf
	own Storage

	mu    sync.Mutex
	locks map[string]func(context.Context) error // what gives each up that this machine has
}

const (
	lockRetry = time.Second      // after which a lock is asked for again that another call has
	lockRenew = 10 * time.Second // how often one is renewed
)

// Lock implements certmagic.Locker: it waits until this call alone has the lock, and holds it until Unlock. One that cannot
// be renewed is taken by another machine, which does the same again: nothing is lost.
func (s *shared) Lock(ctx context.Context, name string) error {
	acquire, release := s.Lease(name, rand.Text())
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		isHeld, err := acquire(ctx)
		if err != nil {
			return fmt.Errorf("locking %s: %w", name, err)
		}
		if isHeld {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking %s: %w", name, ctx.Err())
		case <-retry.C:
		}
	}
	holding, end := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() { renew(holding, acquire) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locks[name] = func(ctx context.Context) error {
		end()
		renewal.Wait()
		return release(ctx)
	}
	return nil
}

// renew renews a lock until its context ends.
func renew(ctx context.Context, acquire func(context.Context) (bool, error)) {
	ticker := time.NewTicker(lockRenew)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_, _ = acquire(ctx)
		}
	}
}

// Unlock implements certmagic.Locker.
func (s *shared) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	release := s.locks[name]
	delete(s.locks, name)
	s.mu.Unlock()
	if release == nil {
		return nil
	}
	return release(ctx)
}

// Store implements certmagic.Storage.
func (s *shared) Store(ctx context.Context, key string, value []byte) error {
	err := s.Put(ctx, key, value)
	if err == nil && isCopied(key) {
		err = s.own.Store(ctx, key, value)
	}
	return err
}

// isCopied reports whether a machine keeps what is shared by a key: a challenge is nothing an hour later.
func isCopied(key string) bool { return !strings.HasPrefix(key, challengeFolder) }

// Load implements certmagic.Storage.
func (s *shared) Load(ctx context.Context, key string) ([]byte, error) {
	content, _, err := s.Get(ctx, key)
	if !isCopied(key) {
		return content, err
	}
	copied, fault := s.own.Load(ctx, key)
	switch {
	case err != nil && fault == nil:
		return copied, nil
	case err == nil && (fault != nil || !bytes.Equal(copied, content)):
		_ = s.own.Store(ctx, key, content) // a copy that cannot be written is missed only where the shelf is, too
	}
	return content, err
}

// Delete implements certmagic.Storage.
func (s *shared) Delete(ctx context.Context, key string) error {
	return errors.Join(s.Shelf.Delete(ctx, key), s.own.Delete(ctx, key))
}

// Exists implements certmagic.Storage.
func (s *shared) Exists(ctx context.Context, key string) bool {
	if _, err := s.Load(ctx, key); err == nil {
		return true
	}
	below, err := s.Keys(ctx, key+"/")
	return err == nil && len(below) > 0
}

// List implements certmagic.Storage.
func (s *shared) List(ctx context.Context, directory string, recursive bool) ([]string, error) {
	prefix := strings.TrimSuffix(directory, "/") + "/"
	all, err := s.Keys(ctx, strings.TrimPrefix(prefix, "/"))
	if err != nil || recursive {
		return all, err
	}
	for i, key := range all {
		first, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		all[i] = path.Join(prefix, first)
	}
	return slices.Compact(all), nil
}

// Stat implements certmagic.Storage.
func (s *shared) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	content, at, err := s.Get(ctx, key)
	return certmagic.KeyInfo{Key: key, Modified: at, Size: int64(len(content)), IsTerminal: true}, err
}

// reporting is a storage that reports whether it can be written: the library drops such an error of a renewal. report
// is called after each Store, and must be safe for concurrent use.
type reporting struct {
	Storage
	report func(err error)
}

// Store implements certmagic.Storage.
func (s *reporting) Store(ctx context.Context, key string, value []byte) error {
	err := s.Storage.Store(ctx, key, value)
	if !errors.Is(err, context.Canceled) {
		s.report(err)
	}
	return err
}

// TryLock implements certmagic.TryLocker: a storage that has none waits for its lock.
func (s *reporting) TryLock(ctx context.Context, name string) (ok bool, err error) {
	if locker, ok := s.Storage.(certmagic.TryLocker); ok {
		return locker.TryLock(ctx, name)
	}
	err = s.Lock(ctx, name)
	return err == nil, err
}
