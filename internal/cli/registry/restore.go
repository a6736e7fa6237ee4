package registry

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
)

func newRestore(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a backup the registry",
		Long: `Make a backup the registry, after it was compared with its digest in FILE.sha256, if there is one,
and verified. urnd must not be running for the last step: verify FILE before you stop it, so that it
is not stopped for a backup that cannot be restored. The registry that is there is kept beside the
new one, with the name ending in .before-restore. FILE itself does not change.

A portable backup (backup --portable) is also restored into a PostgreSQL database that is empty.`,
		Example: `  urnd registry verify /var/backups/registry.db && systemctl stop urnd.socket urnd &&
    urnd registry restore /var/backups/registry.db && systemctl start urnd
  urnd registry restore registry.ndjson.zst --store postgres://urnd@localhost/names`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "copying the backup")
		defer p.End()
		portable, err := isPortable(args[0])
		if err != nil {
			return err
		}
		path, err := f.file()
		if errors.Is(err, errNotAFile) && portable {
			return f.restoreIntoDatabase(cmd, p, args[0])
		}
		if err != nil {
			return err
		}
		var kept string
		if portable {
			kept, err = sqlite.RestoreInto(cmd.Context(), path, func(s *sqlite.Store) error {
				return errors.Join(loadPortable(cmd.Context(), p, s, args[0]), verifyBackup(cmd, p, s))
			})
		} else {
			kept, err = sqlite.Restore(cmd.Context(), path, args[0], func(s *sqlite.Store) error { return verifyBackup(cmd, p, s) })
		}
		if err != nil {
			return p.Interrupted(err, "nothing was restored, and the registry is as it was; the same command begins anew")
		}
		p.End()
		fmt.Fprintf(cmd.OutOrStdout(), "%s is restored from %s\n", path, args[0])
		if kept != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "what was there is now %s\n", kept)
		}
		return nil
	}
	return cmd
}

// restoreIntoDatabase restores a portable backup into a database of PostgreSQL.
func (f *storeFlags) restoreIntoDatabase(cmd *cobra.Command, p *cli.Progress, file string) error {
	s, err := f.open(cmd.Context())
	if err != nil {
		return err
	}
	defer s.close()
	if err := loadPortable(cmd.Context(), p, s.store, file); err != nil {
		return p.Interrupted(err, "nothing was restored; the same command begins anew")
	}
	if err := verifyBackup(cmd, p, s.store); err != nil {
		return err
	}
	p.End()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "the registry is restored from %s\n", file)
	return err
}

var errUnsound = errors.New("the backup has the problems above")

// verifyBackup prints the problems of a copy of a backup.
func verifyBackup(cmd *cobra.Command, p *cli.Progress, s registry.Store) error {
	problems, err := printProblems(cmd.Context(), p, s.Verify, cmd.ErrOrStderr())
	if err == nil && problems > 0 {
		err = errUnsound
	}
	return err
}
