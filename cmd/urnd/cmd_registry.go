package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func newRegistryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Read and change the names that this site owns",
		Long: `Read and change the names that this site owns. They are in the store of registry.store in
the configuration, or of --store; a running urnd that uses it sees each change within a second.

The exit status is 0 where all was done, 1 after a failure, and 2 if the command was used
wrongly; then nothing is changed.`,
		RunE: cli.RequireSubcommand,
		// Before all else, since the program may begin anew by it.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return actAsOwner(storeOf(cmd)) },
	}
	cmd.AddCommand(
		newRegistryImport(), newRegistryExport(),
		newRegistryGet(), newRegistrySet(), newRegistryWithdraw(), newRegistrySupersede(), newRegistryHistory(), newRegistryMint(), newRegistryPurge(),
		newRegistrySearch(), newRegistryStats(), newRegistryCheck(), newRegistryTest(), newRegistryHealth(),
		newRegistryBackup(), newRegistryVerify(), newRegistryRestore(), newRegistryToken(),
	)
	return cmd
}

// registryFlags are the flags of all commands of the registry.
type registryFlags struct {
	settings *cli.Settings
	cmd      *cobra.Command
}

// addRegistry gives cmd the flags --config and --store.
func addRegistry(cmd *cobra.Command) *registryFlags {
	f := &registryFlags{cli.AddFile(cmd), cmd}
	cmd.Flags().String("store", "", "use this `store`: sqlite:FILE or postgres://... (registry.store)")
	return f
}

// open opens the registry, which must be there: one that a mistyped path made would look sound, and empty.
// The caller closes its store.
func (f *registryFlags) open(ctx context.Context) (*registry.Registry, config.Config, error) {
	return f.opened(ctx, mustExist)
}

// openOrMake opens the registry, and makes it where there is none. The caller closes its store.
func (f *registryFlags) openOrMake(ctx context.Context) (*registry.Registry, config.Config, error) {
	return f.opened(ctx, func(string) error { return nil })
}

// opened opens the registry unless check has an error for its store.
func (f *registryFlags) opened(ctx context.Context, check func(store string) error) (*registry.Registry, config.Config, error) {
	c, err := f.settings.Load(map[string]string{"registry.store": "store"})
	if err == nil {
		err = check(c.Registry.Store)
	}
	if err != nil {
		return nil, c, err
	}
	names, err := namesOf(c)
	if err != nil {
		return nil, c, err
	}
	store, err := openStore(ctx, c.Registry)
	if err != nil {
		return nil, c, err
	}
	return newRegistry(store, names, time.Now, auditJournal()), c, nil
}

// openDry is open, with an empty registry that vanishes when it is closed where there is none.
func (f *registryFlags) openDry(ctx context.Context) (*registry.Registry, config.Config, error) {
	c, err := f.settings.Load(map[string]string{"registry.store": "store"})
	if err != nil || mustExist(c.Registry.Store) == nil {
		return f.open(ctx)
	}
	names, err := namesOf(c)
	if err != nil {
		return nil, c, err
	}
	directory, err := os.MkdirTemp("", "urnd-")
	if err != nil {
		return nil, c, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(directory, "registry.db"))
	if err != nil {
		return nil, c, errors.Join(err, os.RemoveAll(directory))
	}
	return newRegistry(&vanishing{store, directory}, names, time.Now, nil), c, nil
}

// vanishing is a store whose directory is removed when it is closed.
type vanishing struct {
	registry.Store
	directory string
}

// Close implements registry.Store.
func (v *vanishing) Close() error { return errors.Join(v.Store.Close(), os.RemoveAll(v.directory)) }

// mustExist returns an error if a store is a file that there is not.
func mustExist(store string) error {
	path, ok := strings.CutPrefix(store, storeSQLite)
	if !ok {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no file %s: urnd registry import and set make one, and so does urnd when it starts", registry.ErrNoStore, path)
	}
	return nil
}

// storeOf returns the store that a command of the registry is to use, "" where that is not known.
func storeOf(cmd *cobra.Command) string {
	s, ok := cli.SettingsOf(cmd)
	if !ok {
		return ""
	}
	c, err := s.Load(map[string]string{"registry.store": "store"})
	if err != nil {
		return "" // the command says why
	}
	return c.Registry.Store
}

// actor returns who uses the command: whoever may write to the store may do all.
func actor() registry.Actor {
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	if name == "" {
		name = fmt.Sprintf("uid %d", os.Getuid())
	}
	return registry.Actor{Name: name, Role: registry.Admin}
}
