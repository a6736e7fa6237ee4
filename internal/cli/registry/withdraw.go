package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

func newWithdraw(w Wiring) *cobra.Command {
	var reason, note string
	var successors []string
	cmd := &cobra.Command{
		SuggestFor: []string{"delete", "remove", "rm", "del", "unregister", "deactivate"},
		Use:        "withdraw NAME...",
		Short:      "Withdraw names: they stay registered, without a target",
		Long: `Withdraw names. They stay registered for ever: requests get 410 Gone with the reason,
the date and the successor. Their targets are preserved in the registry, but
not used; urnd registry set --activate makes a name active again.

Either all names are withdrawn, or none.`,
		Example: `  urnd registry withdraw urn:nbn:fi:example-2 --reason 'The work was retracted by its author.'
  urnd registry withdraw urn:nbn:fi:example-3 --reason 'Never published.' --successor urn:nbn:fi:example-1`,
		Args: cobra.MinimumNArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	prefix := addPrefix(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "public reason: a `text`")
	cmd.Flags().StringArrayVar(&successors, "successor", nil, "successor: a `URI`; repeatable")
	cmd.Flags().StringVar(&note, "note", "", "reason for the history: a `text`")
	cli.Require(cmd, "reason", "a public reason is required")
	return f.run(existing, "withdrawing names", "nothing was withdrawn",
		func(ctx context.Context, s *session, args []string) error {
			var edits []registry.Edit
			for _, name := range args {
				key, err := s.key(name, *prefix)
				if err != nil {
					return err
				}
				change := registry.Withdraw(reason, successors...)
				edits = append(edits, registry.Edit{
					Key: key, IfVersion: registry.AnyVersion, Note: note,
					Change: change,
				})
			}
			changed, err := s.Withdraw(ctx, s.actor, differences.dry, edits...)
			return differences.print(s, changed, err)
		})
}

func newSupersede(w Wiring) *cobra.Command {
	var reason, note string
	var by []string
	cmd := &cobra.Command{
		Use:   "supersede OLD... --by NEW...",
		Short: "Withdraw names in favour of others: merge or split them",
		Long: `Withdraw names in favour of others, all in one step. Several old names and one new one are a merge,
one old name and several new ones a split. The note is required, since a merge or split cannot be
understood later without it.`,
		Example: "  urnd registry supersede urn:nbn:fi:example-2 urn:nbn:fi:example-3 --by urn:nbn:fi:example-1 " +
			"--note 'duplicates of one work'\n" +
			"  urnd registry supersede urn:nbn:fi:example-4 --by urn:nbn:fi:example-4a --by urn:nbn:fi:example-4b " +
			"--reason 'Now in two volumes.' --note 'split by the publisher'",
		Args: cobra.MinimumNArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	cmd.Flags().StringArrayVar(&by, "by", nil, "successor: a `name`; repeated for a split")
	cmd.Flags().StringVar(&reason, "reason", "", "public reason: a `text`")
	cmd.Flags().StringVar(&note, "note", "", "reason for the history: a `text`")
	cli.Require(cmd, "by", "the successor")
	cli.Require(cmd, "note", "a reason for the merge or split is required")
	return f.run(existing, "withdrawing names", "nothing was withdrawn",
		func(ctx context.Context, s *session, args []string) error {
			for _, name := range args {
				if _, err := s.key(name, false); err != nil {
					return err
				}
			}
			changed, err := s.Supersede(ctx, s.actor, differences.dry, service.Superseding{
				Names: args, Successors: by, Reason: reason, Note: note,
			})
			return differences.print(s, changed, err)
		})
}

func newPurge(w Wiring) *cobra.Command {
	var yes bool
	var note string
	cmd := &cobra.Command{
		SuggestFor: []string{"delete", "clean", "wipe"},
		Use:        "purge PREFIX (--dry-run | --yes)",
		Short:      "Remove the names of a sandbox with all their history",
		Long: `Remove the names and prefixes that begin with PREFIX and are in a sandbox, with all their versions.
A sandbox is a prefix for test names, registered with --sandbox. All other names are kept for ever.
This cannot be undone. Without --yes nothing is removed, and the command prints how many would be;
with --dry-run, which ones.`,
		Example: `  urnd registry set urn:nbn:fi:test: --prefix --sandbox
  urnd registry set urn:nbn:fi:test:1 --target https://test.example.org/1
  urnd registry purge urn:nbn:fi:test: --dry-run
  urnd registry purge urn:nbn:fi:test: --yes`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().StringVar(&note, "note", "", "reason: a `text` that urnd registry changes prints")
	differences := addDifferences(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the removal")
	cli.Exclude(cmd, "yes", "dry-run")
	return f.run(existing, "purging names", "nothing was removed",
		func(ctx context.Context, s *session, args []string) error {
			key, err := s.key(args[0], true)
			switch {
			case err != nil:
				return err
			case !yes:
				return s.previewPurge(ctx, differences, key.Name)
			}
			n, err := s.Purge(ctx, s.actor, key.Name, note)
			fmt.Fprintf(s.out, "%s: %d removed\n", key, n)
			return s.progress.Interrupted(err,
				"%d names and prefixes are removed; the same command continues with the others", n)
		})
}

var errNotPurged = errors.New("nothing was removed: add --yes")

// previewPurge prints the entries that a purge would remove, or only their number.
func (s *session) previewPurge(ctx context.Context, d *differenceFlags, prefix string) error {
	p := d.printer(s)
	n, others := 0, 0
	err := s.PreviewPurge(ctx, s.actor, prefix, func(e registry.Entry) error {
		if !e.Sandbox {
			others++
			return nil
		}
		if n++; d.dry {
			p.Changed(registry.Changed{Before: e, After: registry.Entry{Key: e.Key}})
		}
		return p.Err()
	})
	switch {
	case err != nil:
		return err
	case d.dry:
		return d.end(s, p)
	}
	fmt.Fprintf(s.out, "%s*: %d would be removed, and %d kept, which are in no sandbox\n", prefix, n, others)
	if n == 0 {
		return nil
	}
	return cli.Usage(errNotPurged)
}

func newRedact(w Wiring) *cobra.Command {
	var versions []int
	var reason string
	cmd := &cobra.Command{
		Use:   "redact NAME --version NUMBER --reason TEXT",
		Short: "Remove the targets, metadata and contact of old versions for good",
		Long: `Remove the targets, metadata and contact of versions of a name for good, such as personal data that
must not be stored. The time, author and reason of each version remain. The removed data is gone
from the history, from the registry as of any time, and from later exports and backups, but not
from earlier ones. This cannot be undone. The log of urnd still has the changes that it recorded,
and the files of imports by the API (registry-jobs) have the data until they are 30 days old. The
write-ahead log of SQLite, whose name ends in -wal, is emptied immediately, or after the next
change if another process is reading.

The current version of an active name cannot be redacted: change or withdraw the name first.`,
		Example: `  urnd registry history urn:nbn:fi:example-1
  urnd registry redact urn:nbn:fi:example-1 --version 1 --reason 'personal data, by request of 2031-05-01'`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	cmd.Flags().IntSliceVar(&versions, "version", nil, "`number` of a version; repeatable")
	cmd.Flags().StringVar(&reason, "reason", "", "reason, which remains in the registry: a `text`")
	cli.Require(cmd, "version", "the number of a version, as urnd registry history prints it")
	cli.Require(cmd, "reason", "a reason is required, because it remains")
	return f.runName("redacting versions", "nothing was redacted",
		func(ctx context.Context, s *session, key registry.Key) error {
			if differences.dry {
				changes, err := s.PreviewRedact(ctx, s.actor, key, versions, reason)
				return differences.print(s, changes, err)
			}
			n, err := s.Redact(ctx, s.actor, key, versions, reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "%s: %s redacted\n", key, amountOf(int64(n), "version"))
			return err
		})
}
