package certificate

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
)

// Storage keeps certificates, their keys, the account, and the challenges that wait for the authority, by names with
// slashes. Machines that share one obtain each certificate once, by its locks.
type Storage = certmagic.Storage

// FileStorage returns a storage in a directory, which is made when something is stored. Files are for this user alone.
func FileStorage(directory string) Storage { return &certmagic.FileStorage{Path: directory} }

// Shelf is where several machines keep what they share. Its errors wrap fs.ErrNotExist for a key that is not there. A
// lock is for one call of Lock, in this machine or another, until Unlock.
type Shelf interface {
	Get(ctx context.Context, key string) (content []byte, at time.Time, err error)
	Put(ctx context.Context, key string, content []byte) error
	// Delete removes a key, and those below it.
	Delete(ctx context.Context, key string) error
	Keys(ctx context.Context, prefix string) ([]string, error)
	Lock(ctx context.Context, name string) error
	Unlock(ctx context.Context, name string) error
}

// SharedStorage returns a storage on a shelf. What was stored or loaded is also in a storage of this machine, which
// has it while the shelf cannot be asked, and after the shelf has lost it.
func SharedStorage(shelf Shelf, own Storage) Storage { return &shared{Shelf: shelf, own: own} }

type shared struct {
	Shelf
	own Storage
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
