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
		return sqlite.Open(ctx, path)
	}
	return openPostgres(ctx, c)
}

// Opener returns what opens the store of a configuration: not where its file must exist and does not.
func Opener(c config.Registry) func(ctx context.Context, mustExist bool) (registry.Store, error) {
	return func(ctx context.Context, mustExist bool) (registry.Store, error) {
		if path, ok := cli.StoreFile(c.Store); ok && mustExist {
			if err := sqlite.MustExist(path); err != nil {
				return nil, err
			}
		}
		return Open(ctx, c)
	}
}
