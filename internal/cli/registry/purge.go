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
		Use:        "purge PREFIX --yes",
		Short:      "Remove the names of a sandbox with all their history",
		Long: `Remove the names and prefixes that begin with PREFIX and are in a sandbox, with all their versions: for
names of tests, which were registered below a prefix with --sandbox. All other names are kept for ever.
It cannot be undone. Without --yes nothing is removed, and the command says how many would be.`,
		Example: `  urnd registry set urn:nbn:fi:test: --prefix --sandbox
  urnd registry set urn:nbn:fi:test:1 --target https://test.example.org/1
  urnd registry purge urn:nbn:fi:test:
  urnd registry purge urn:nbn:fi:test: --yes`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().StringVar(&note, "note", "", "why: a `text` that urnd registry changes prints")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, _, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer r.Store().Close()
		key, err := keyOf(cmd.Context(), r, args[0], true)
		if err != nil {
			return err
		}
		if !yes {
			return wouldPurge(cmd, r, key.Name)
		}
		n, err := r.Purge(cmd.Context(), actor(), key.Name, note)
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d removed\n", key, n)
		return err
	}
	return cmd
}

var errNotPurged = errors.New("nothing was removed: add --yes")

// wouldPurge prints how many entries a purge would remove.
func wouldPurge(cmd *cobra.Command, r *registry.Registry, prefix string) error {
	n, others := 0, 0
	for _, kind := range []registry.Kind{registry.KindName, registry.KindPrefix} {
		_, err := r.Search(cmd.Context(), registry.Search{Kind: kind, Below: prefix}, func(e registry.Entry) error {
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
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s*: %d would be removed, and %d kept, which are in no sandbox\n", prefix, n, others)
	if n == 0 {
		return nil
	}
	return cli.Usage(errNotPurged)
}
