package registry

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// testWiring returns the wiring for a registry in a file, the only resolver of names.
func testWiring() Wiring {
	open := func(ctx context.Context, c config.Registry) (registry.Store, error) {
		path, _ := cli.StoreFile(c.Store)
		return sqlite.Open(ctx, path)
	}
	return Wiring{
		CheckLost: func(c config.Config) error {
			path, _ := cli.StoreFile(c.Registry.Store)
			return sqlite.CheckLost(path)
		},
		Names: clitest.NamesOf, Open: open, OwnNames: func(config.Listen) []string { return nil },
		New: func(store registry.Store, names resolver.Names, _ *slog.Logger) *registry.Registry {
			return registry.New(registry.Config{
				Store: store, CanonicalPrefix: names.CanonicalPrefix, Suggest: names.DidYouMean, Now: time.Now,
				OwnedPrefixes: names.RegistryPrefixes(),
				Canonical: func(text string) (string, error) {
					q, err := resolver.ParseQuery(text, resolver.I2L)
					if err == nil {
						q, err = names.Canonical(names.Identify(q))
					}
					return q.URI.String(), err
				},
			})
		},
		Resolve: func(ctx context.Context, c config.Config, _ io.Writer) (cli.Resolution, error) {
			names, err := clitest.NamesOf(c)
			if err != nil {
				return cli.Resolution{}, err
			}
			store, err := open(ctx, c.Registry)
			if err != nil {
				return cli.Resolution{}, err
			}
			own := lookup.New(lookup.Config{Store: store, TTL: time.Hour, Now: time.Now})
			return cli.Resolution{
				Names: names, Resolver: resolver.NewCanonical(names, own),
				Close: func() { store.Close() },
			}, nil
		},
	}
}

// run runs a command of the registry, and returns its output, its messages including its error, and its exit
// status.
func run(t testing.TB, stdin string, args ...string) (out, messages string, status int) {
	t.Helper()
	out, messages, err := clitest.Run(t, Command(testWiring()), stdin, args...)
	if err == nil {
		return out, messages, 0
	}
	return out, messages, cli.StatusOf(err)
}
