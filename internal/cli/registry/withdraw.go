package registry

import (
	"context"

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
		Short:      "Withdraw names: they stay registered, and lead nowhere any more",
		Long: `Withdraw names. They stay registered for ever: who asks for one is told (410 Gone) why it was
withdrawn, since when, and what came instead. Its targets are kept in the registry, and nobody is
led there; urnd registry set --activate makes it active again.

All names are withdrawn, or none.`,
		Example: `  urnd registry withdraw urn:nbn:fi:example-2 --reason 'The work was retracted by its author.'
  urnd registry withdraw urn:nbn:fi:example-3 --reason 'Never published.' --successor urn:nbn:fi:example-1 --note 'asked for by mail'`,
		Args: cobra.MinimumNArgs(1),
	}
	f := addStore(cmd, w)
	differences := addDifferences(cmd)
	prefix := addPrefix(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "why, which everybody is shown: a `text`")
	cmd.Flags().StringArrayVar(&successors, "successor", nil, "what came instead: a `URI`; may be repeated")
	cmd.Flags().StringVar(&note, "note", "", "why it is changed now, which the history keeps: a `text`")
	cli.Require(cmd, "reason", "it is what those are told who ask for the name")
	return f.run(existing, "withdrawing names", "nothing was withdrawn", func(ctx context.Context, s *session, args []string) error {
		var edits []registry.Edit
		for _, name := range args {
			key, err := s.key(name, *prefix)
			if err != nil {
				return err
			}
			change := registry.Withdraw(reason, successors...)
			edits = append(edits, registry.Edit{Key: key, IfVersion: registry.Any, Note: note, Change: change})
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
	cmd.Flags().StringArrayVar(&by, "by", nil, "what comes instead: a `name`; repeated for a split")
	cmd.Flags().StringVar(&reason, "reason", "", "why, which everybody is shown: a `text`")
	cmd.Flags().StringVar(&note, "note", "", "why it is changed, which the history keeps: a `text`")
	cli.Require(cmd, "by", "the name that comes instead")
	cli.Require(cmd, "note", "say why the names are merged or split")
	return f.run(existing, "withdrawing names", "nothing was withdrawn", func(ctx context.Context, s *session, args []string) error {
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
