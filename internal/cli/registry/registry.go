// Package registry has the commands of urnd registry, which read and change the names that this site owns.
package registry

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/owner"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

// Wiring is what the commands need of the program.
type Wiring struct {
	// Names returns the rules for names of a configuration, and Resolve opens what resolves them.
	Names   cli.NamesOf
	Resolve cli.OpenResolution
	// Open opens the store of a configuration, which has one.
	Open func(ctx context.Context, c config.Registry) (registry.Store, error)
	// Lost returns an error where the file of the store is missing, and was there.
	Lost func(c config.Config) error
	// New returns the registry in a store, whose changes are logged. log may be nil.
	New func(store registry.Store, names resolver.Names, log *slog.Logger) *registry.Registry
	// Health returns what configures a checker of targets. The caller calls end when it needs it no longer.
	Health func(c config.Config, store registry.Store) (settings health.Config, end func(), err error)
	// OwnNames returns the hosts by which clients reach this urnd.
	OwnNames func(c config.Listen) []string
}

// Command returns the command.
func Command(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Read and change the names that this site owns",
		Long: `Read and change the names that this site owns. They are in the store of registry.store in
the configuration, or of --store; a running urnd that uses it sees each change within a second.

The exit status is 0 where all was done, 1 after a failure, and 2 if the command was used
wrongly; then nothing is changed.`,
		RunE: cli.RequireSubcommand,
		// Of a command that there is not, its name is the mistake, and not its flags.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		// Before all else, since the program may begin anew by it.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return actAsOwner(cmd) },
	}
	cmd.AddCommand(
		newImport(w), newExport(w), newDiff(w),
		newGet(w), newSet(w), newWithdraw(w), newSupersede(w), newHistory(w), newMint(w), newPurge(w),
		newChanges(w), newRevert(w), newRewrite(w), newRedact(w), newHead(w),
		newSearch(w), newStats(w), newCheck(w), newTest(w), newHealth(w),
		newBackup(w), newVerify(w), newRestore(w), newToken(w),
	)
	return cmd
}

// storeFlags are the flags of all commands of the registry.
type storeFlags struct {
	settings *cli.Settings
	wiring   Wiring
}

// errNone is the error where no store is configured.
var errNone = errors.New("no registry is configured: set registry.store, " +
	"or use --store with sqlite:FILE or the URL of a PostgreSQL database")

// addStore gives cmd the flags --config and --store.
func addStore(cmd *cobra.Command, w Wiring) *storeFlags {
	f := &storeFlags{cli.AddFile(cmd), w}
	cmd.Flags().String("store", "", "use this `store`: sqlite:FILE or postgres://... (registry.store)")
	return f
}

// open opens the registry, which must be there: one that a mistyped path made would look sound, and empty. The caller closes it.
func (f *storeFlags) open(ctx context.Context) (*session, error) { return f.opened(ctx, mustExist) }

// openOrMake opens the registry, and makes it where there is none. The caller closes it.
func (f *storeFlags) openOrMake(ctx context.Context) (*session, error) {
	return f.opened(ctx, func(string) error { return nil })
}

// opened opens the registry unless check has an error for its store.
func (f *storeFlags) opened(ctx context.Context, check func(store string) error) (*session, error) {
	c, err := f.load()
	if err == nil {
		err = f.wiring.Lost(c)
	}
	if err == nil {
		err = check(c.Registry.Store)
	}
	if err != nil {
		return nil, err
	}
	if c.Registry.Store == "" {
		return nil, errNone
	}
	store, err := f.wiring.Open(ctx, c.Registry)
	if err != nil {
		return nil, err
	}
	s, err := newSession(f.wiring, c, store, journal())
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// openDry is open, with an empty registry that vanishes when it is closed where there is none.
func (f *storeFlags) openDry(ctx context.Context) (*session, error) {
	c, err := f.load()
	if err != nil || f.wiring.Lost(c) != nil || mustExist(c.Registry.Store) == nil {
		return f.open(ctx)
	}
	store, err := newVanishing(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newSession(f.wiring, c, store, nil)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// load returns the configuration, with the store of --store.
func (f *storeFlags) load() (config.Config, error) {
	return f.settings.Load(map[string]string{"registry.store": "store"})
}

// mustExist returns an error if a store is a file that there is not.
func mustExist(store string) error {
	path, ok := cli.StoreFile(store)
	if !ok {
		return nil
	}
	return sqlite.MustExist(path)
}

// actAsOwner makes a command of root act as the owner of the file of its store.
func actAsOwner(cmd *cobra.Command) error {
	s, ok := cli.SettingsOf(cmd)
	if !ok {
		return nil
	}
	c, err := s.Load(map[string]string{"registry.store": "store"})
	if err != nil {
		return nil //nolint:nilerr // the command says why
	}
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		return owner.ActAs(path)
	}
	return nil
}
