package cli

import (
	"context"
	"io"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
)

// StoreFile returns the file of a store of the registry, as registry.store names it; ok is false where the store is a
// database of a server, or none.
func StoreFile(store string) (path string, ok bool) { return strings.CutPrefix(store, "sqlite:") }

// NamesOf returns the rules for names of a configuration.
type NamesOf func(c config.Config) (resolver.Names, error)

// Resolution resolves names as a daemon with the same configuration would. Close is called when it is needed no
// longer.
type Resolution struct {
	Names    resolver.Names
	Resolver resolver.Resolver
	Close    func()
}

// OpenResolution opens the resolution of a configuration, with its registry. What is wrong with that alone is
// printed to messages: all other names are resolved.
type OpenResolution func(ctx context.Context, c config.Config, messages io.Writer) (Resolution, error)
