package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// errNoRegistry is the error where no store is configured.
var errNoRegistry = errors.New("no registry is configured: set registry.store, or use --store sqlite:FILE")

// openStore opens the store of a configuration.
func openStore(ctx context.Context, c config.Registry) (registry.Store, error) {
	path, ok := strings.CutPrefix(c.Store, "sqlite:")
	switch {
	case c.Store == "":
		return nil, errNoRegistry
	case ok:
		return sqlite.Open(ctx, path)
	default:
		return nil, errors.New("PostgreSQL is not supported yet")
	}
}

// canonicalText returns the functions for canonical names and prefixes of a registry.
func canonicalText(names resolver.Names) (name, prefix func(text string) (string, error)) {
	return func(text string) (string, error) {
		q, err := resolver.ParseQuery(text, resolver.I2L)
		if err != nil {
			return "", err
		}
		q, err = names.Canonical(q)
		return q.URI.String(), err
	}, names.CanonicalPrefix
}

// ownNames returns the names of hosts by which clients reach this urnd: also that of the machine, with
// and without its domain.
func ownNames(c config.Listen) []string {
	machine, _ := os.Hostname() // without it, only what is configured
	short, _, _ := strings.Cut(machine, ".")
	return append([]string{machine, short}, c.Names...)
}
