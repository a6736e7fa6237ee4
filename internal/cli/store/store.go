// Package store opens the store of the registry that a configuration names, for the daemon and for commands.
package store

import (
	"context"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// Open opens the store of a configuration, and makes its file where there is none.
func Open(ctx context.Context, c config.Registry) (registry.Store, error) {
	if path, ok := cli.StoreFile(c.Store); ok {
		s, err := sqlite.Open(ctx, path)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return openPostgres(ctx, c)
}

// Lost returns an error where the store of a configuration is a file that is missing, and was there: state is the directory for what the
// service keeps, "" where there is none.
func Lost(c config.Registry, state string) error {
	if path, ok := cli.StoreFile(c.Store); ok {
		return sqlite.Lost(path, state)
	}
	return nil
}

// Opener returns what opens the store of a configuration: not where its file must exist and does not, or is lost. That it is there
// is remembered in the directory state, unless that is "". made is called with a file that was made.
func Opener(c config.Registry, state string, made func(file string)) func(ctx context.Context, mustExist bool) (registry.Store, error) {
	return func(ctx context.Context, mustExist bool) (registry.Store, error) {
		if err := Lost(c, state); err != nil {
			return nil, err
		}
		if path, ok := cli.StoreFile(c.Store); ok && mustExist {
			if err := sqlite.MustExist(path); err != nil {
				return nil, err
			}
		}
		s, err := Open(ctx, c)
		if file, ok := s.(*sqlite.Store); ok && err == nil {
			if file.Made() {
				made(file.Path())
			}
			if state != "" && !mustExist { // a command remembers nothing: it may be another user's
				_ = sqlite.Remember(file.Path(), state)
			}
		}
		return s, err
	}
}
