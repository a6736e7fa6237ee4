package registry

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
)

func newRedact(w Wiring) *cobra.Command {
	var versions []int
	var reason string
	cmd := &cobra.Command{
		Use:   "redact NAME --version NUMBER --reason TEXT",
		Short: "Remove the targets, metadata and contact of old versions for good",
		Long: `Remove the targets, metadata and contact of versions of a name for good: for what must not be kept, such as personal data. When each
version was made, by whom and why stays. They are gone from the history, from what was at a time, and from exports and backups that
are made afterwards, not from those that were made before. It cannot be undone. The log of urnd has what it was told of changes, and the
files of imports by the API (registry-jobs) have it until these are 30 days old. The log of SQLite, the file that ends in -wal, is emptied
at once, or after the next change where another process was reading.

The current version of a name that leads somewhere is changed or withdrawn first, and then redacted.`,
		Example: `  urnd registry history urn:nbn:fi:example-1
  urnd registry redact urn:nbn:fi:example-1 --version 1 --reason 'personal data, by request of 2031-05-01'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	prefix := addPrefix(cmd)
	cmd.Flags().IntSliceVar(&versions, "version", nil, "the `number` of a version; may be repeated")
	cmd.Flags().StringVar(&reason, "reason", "", "why, which the registry keeps: a `text`")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := differences.check(); err != nil {
			return err
		}
		switch {
		case len(versions) == 0:
			return cli.Usage(errors.New("--version is required: the number of a version, as urnd registry history prints it"))
		case reason == "":
			return cli.Usage(errors.New("--reason is required: it is what remains"))
		}
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		key, err := s.key(args[0], *prefix)
		if err != nil {
			return err
		}
		if differences.dry {
			changes, err := s.PreviewRedact(cmd.Context(), s.actor, key, versions, reason)
			if err != nil {
				return usageOf(err)
			}
			return differences.print(cmd, changes)
		}
		n, err := s.Redact(cmd.Context(), s.actor, key, versions, reason)
		if err != nil {
			return usageOf(err)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s redacted\n", key, counted(int64(n), "version"))
		return err
	}
	return cmd
}
