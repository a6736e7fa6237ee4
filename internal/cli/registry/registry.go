// Package registry has the commands of urnd registry, which read and change the names that this site owns.
// Names, prefixes, files and patterns enter, and entries, reports and differences leave as text, CSV (RFC
// 4180) or JSON (RFC 8259). Commands open the store directly, beside a running daemon; names are URNs (RFC
// 8141) and other URIs (RFC 3986).
package registry

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/owner"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
)

// Wiring has the functions of the daemon that the commands need.
type Wiring struct {
	// Names returns the rules for names of a configuration, and Resolve opens its resolution.
	Names   cli.NamesOf
	Resolve cli.OpenResolution
	// Open opens the store of a configuration, which must have one.
	Open func(ctx context.Context, c config.Registry) (registry.Store, error)
	// CheckLost returns an error if the database file existed before and is missing.
	CheckLost func(c config.Config) error
	// New returns the registry in a store. Changes are logged to log, which may be nil.
	New func(store registry.Store, names resolver.Names, log *slog.Logger) *registry.Registry
	// Health returns the configuration of a checker of targets. The caller calls end after using it.
	Health func(c config.Config, store registry.Store) (settings health.Config, end func(), err error)
	// OwnNames returns the host names by which clients reach this urnd.
	OwnNames func(c config.Listen) []string
}

// Command returns the command.
func Command(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Manage the names that this site owns",
		Long: `Manage the names that this site owns. They are in the database of registry.store in
the configuration, or of --store; a running urnd that uses it sees each change within a second.

The exit status is 0 on success, 1 after a failure, and 2 after a usage
error, in which case nothing is changed.`,
		RunE: cli.RequireSubcommand,
		// For an unknown command, report its name rather than its flags.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		// Must run first, because it may re-execute the program.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return actAsOwner(cmd) },
	}
	cli.AddGroup(cmd, "Names", newGet(w), newSearch(w), newSet(w), newMint(w), newWithdraw(w), newSupersede(w),
		newHistory(w))
	cli.AddGroup(cmd, "Many names", newImport(w), newExport(w), newRewrite(w), newDiff(w), newTest(w))
	cli.AddGroup(cmd, "Changes", newChanges(w), newRevert(w), newRedact(w), newPurge(w))
	cli.AddGroup(cmd, "Quality and use", newCheck(w), newHealth(w), newStats(w))
	cli.AddGroup(cmd, "The store", newBackup(w), newVerify(w), newRestore(w), newHead(w), newToken(w))
	return cmd
}

// actAsOwner makes a command run by root act as the owner of its database file.
func actAsOwner(cmd *cobra.Command) error {
	s, ok := cli.SettingsOf(cmd)
	if !ok {
		return nil
	}
	c, err := s.Load(map[string]string{"registry.store": "store"})
	if err != nil {
		return nil //nolint:nilerr // the command reports the error
	}
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		return owner.ActAs(path)
	}
	return nil
}
