package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

func newPurge(w Wiring) *cobra.Command {
	var yes bool
	var note string
	cmd := &cobra.Command{
		SuggestFor: []string{"delete", "clean", "wipe"},
		Use:        "purge PREFIX (--dry-run | --yes)",
		Short:      "Remove the names of a sandbox with all their history",
		Long: `Remove the names and prefixes that begin with PREFIX and are in a sandbox, with all their versions: for
names of tests, which were registered below a prefix with --sandbox. All other names are kept for ever.
It cannot be undone. Without --yes nothing is removed, and the command says how many would be; with --dry-run, which ones.`,
		Example: `  urnd registry set urn:nbn:fi:test: --prefix --sandbox
  urnd registry set urn:nbn:fi:test:1 --target https://test.example.org/1
  urnd registry purge urn:nbn:fi:test: --dry-run
  urnd registry purge urn:nbn:fi:test: --yes`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().StringVar(&note, "note", "", "why: a `text` that urnd registry changes prints")
	differences := addDifferences(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them")
	cli.Exclude(cmd, "yes", "dry-run")
	return f.run(existing, "purging names", "nothing was removed", func(ctx context.Context, s *session, args []string) error {
		key, err := s.key(args[0], true)
		switch {
		case err != nil:
			return err
		case !yes:
			return s.previewPurge(ctx, differences, key.Name)
		}
		n, err := s.Purge(ctx, s.actor, key.Name, note)
		fmt.Fprintf(s.out, "%s: %d removed\n", key, n)
		return s.progress.Interrupted(err, "%d names and prefixes are removed for good; the same command goes on with the others", n)
	})
}

var errNotPurged = errors.New("nothing was removed: add --yes")

// previewPurge prints which entries a purge would remove, or only how many.
func (s *session) previewPurge(ctx context.Context, d *differenceFlags, prefix string) error {
	p := &printed{Printer: d.printer(s)}
	n, others := 0, 0
	err := s.PreviewPurge(ctx, s.actor, prefix, func(e registry.Entry) error {
		if !e.Sandbox {
			others++
			return nil
		}
		if n++; d.dry {
			p.changed(registry.Changed{Before: e, After: registry.Entry{Key: e.Key}})
		}
		return p.failed
	})
	switch {
	case err != nil:
		return err
	case d.dry:
		return d.end(s, p.Printer)
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
	cmd.Flags().IntSliceVar(&versions, "version", nil, "the `number` of a version; may be repeated")
	cmd.Flags().StringVar(&reason, "reason", "", "why, which the registry keeps: a `text`")
	cli.Require(cmd, "version", "the number of a version, as urnd registry history prints it")
	cli.Require(cmd, "reason", "it is what remains")
	return f.runName("redacting versions", "nothing was redacted", func(ctx context.Context, s *session, key registry.Key) error {
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
