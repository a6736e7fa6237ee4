package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/urnns"
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

// checkDigits returns what completes the numbers that a registry mints.
func checkDigits() map[string]registry.CheckDigit {
	return map[string]registry.CheckDigit{
		"urn:isbn:": {Digits: urnns.DigitsISBN, Of: urnns.CheckDigitISBN},
		"urn:issn:": {Digits: urnns.DigitsISSN, Of: urnns.CheckDigitISSN},
	}
}
