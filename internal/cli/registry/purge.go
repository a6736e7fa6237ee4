package registry

import (
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
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := differences.check(); err != nil {
			return err
		}
		p := cli.StartProgress(cmd, "purging names")
		defer p.End()
		s, err := f.open(cmd.Context())
		if err != nil {
			return p.Interrupted(err, "nothing was removed; the same command begins anew")
		}
		defer s.close()
		key, err := s.key(args[0], true)
		if err != nil {
			return err
		}
		if differences.dry {
			return differences.purge(cmd, s, key.Name)
		}
		if !yes {
			return wouldPurge(cmd, s, key.Name)
		}
		n, err := s.Purge(cmd.Context(), s.actor, key.Name, note)
		p.End()
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d removed\n", key, n)
		return p.Interrupted(err, "%d names and prefixes are removed for good; the same command goes on with the others", n)
	}
	return cmd
}

var errNotPurged = errors.New("nothing was removed: add --yes")

// wouldPurge prints how many entries a purge would remove.
func wouldPurge(cmd *cobra.Command, s *session, prefix string) error {
	n, others := 0, 0
	err := s.PreviewPurge(cmd.Context(), s.actor, prefix, func(e registry.Entry) error {
		if e.Sandbox {
			n++
		} else {
			others++
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s*: %d would be removed, and %d kept, which are in no sandbox\n", prefix, n, others)
	if n == 0 {
		return nil
	}
	return cli.Usage(errNotPurged)
}

// purge prints what a purge would remove.
func (d *differenceFlags) purge(cmd *cobra.Command, s *session, prefix string) error {
	p := d.printer()
	err := s.PreviewPurge(cmd.Context(), s.actor, prefix, func(e registry.Entry) error {
		if !e.Sandbox {
			return nil
		}
		return p.Changed(registry.Changed{Before: e, After: registry.Entry{Key: e.Key}})
	})
	if err != nil {
		return err
	}
	return p.End(cmd.ErrOrStderr())
}
