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

// Storage stores certificates, keys, the account and pending challenges by slash-separated keys. Machines that
// share a storage obtain each certificate once, by its locks.
type Storage = certmagic.Storage

// FileStorage returns a storage in a directory, which is created on demand. Only this user can read its files.
func FileStorage(directory string) Storage { return &certmagic.FileStorage{Path: directory} }

// SharedStore is a store shared by several machines. Its errors wrap fs.ErrNotExist for a missing key.
type SharedStore interface {
	Get(ctx context.Context, key string) (content []byte, at time.Time, err error)
	Put(ctx context.Context, key string, content []byte) error
	// Delete removes a key and the keys below it.
	Delete(ctx context.Context, key string) error
	Keys(ctx context.Context, prefix string) ([]string, error)
	// Lease returns functions for a lease of half a minute: acquire takes or renews it, and reports whether it
	// is held; release gives it up.
	Lease(name, holder string) (acquire func(context.Context) (bool, error), release func(context.Context) error)
}

// SharedStorage returns a storage on a shelf. Stored and loaded values are also copied to the local storage
// own, which serves them while the shelf is unavailable, and after the shelf has lost them.
func SharedStorage(shelf SharedStore, own Storage) Storage {
	return &shared{SharedStore: shelf, own: own, locks: make(map[string]func(context.Context) error)}
}

type shared struct {
	SharedStore
	own Storage

	mu    sync.Mutex
	locks map[string]func(context.Context) error // releases each lock held by this machine
}

const (
	lockRetry = time.Second      // delay between attempts to take a lock that is held by another call
	lockRenew = 10 * time.Second // renewal interval of a held lock
)

// Lock implements certmagic.Locker: it blocks until this call has the lock exclusively, and holds it until
// Unlock. If a lock cannot be renewed, another machine may take it and repeat the work, which is harmless.
func (s *shared) Lock(ctx context.Context, name string) error {
	acquire, release := s.Lease(name, rand.Text())
	retry := time.NewTicker(lockRetry)
	defer retry.Stop()
	for {
		held, err := acquire(ctx)
		if err != nil {
			return fmt.Errorf("locking %s: %w", name, err)
		}
		if held {
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

// renew renews a lock until ctx ends.
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

// isCopied reports whether the local storage has a copy of a key. Challenges are short-lived, so they have
// none.
func isCopied(key string) bool { return !strings.HasPrefix(key, challengeFolder) }

// Load implements certmagic.Storage.
func (s *shared) Load(ctx context.Context, key string) ([]byte, error) {
	content, _, err := s.Get(ctx, key)
	if !isCopied(key) {
		return content, err
	}
	copied, failure := s.own.Load(ctx, key)
	switch {
	case err != nil && failure == nil:
		return copied, nil
	case err == nil && (failure != nil || !bytes.Equal(copied, content)):
		_ = s.own.Store(ctx, key, content) // a missing copy matters only if the shelf fails, too
	}
	return content, err
}

// Delete implements certmagic.Storage.
func (s *shared) Delete(ctx context.Context, key string) error {
	return errors.Join(s.SharedStore.Delete(ctx, key), s.own.Delete(ctx, key))
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

// reporting wraps a storage and reports the result of each Store, because the library drops such an error of a
// renewal. report must be safe for concurrent use.
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

// TryLock implements certmagic.TryLocker: for a storage without TryLock it waits for the lock.
func (s *reporting) TryLock(ctx context.Context, name string) (ok bool, err error) {
	if locker, ok := s.Storage.(certmagic.TryLocker); ok {
		return locker.TryLock(ctx, name)
	}
	err = s.Lock(ctx, name)
	return err == nil, err
}
