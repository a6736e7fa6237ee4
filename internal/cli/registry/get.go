package registry

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry/service"
)

func newGet(w Wiring) *cobra.Command {
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		SuggestFor: []string{"show", "read", "lookup", "info", "resolve"},
		Use:        "get NAME",
		Short:      "Print what is registered of a name",
		Long: `Print what is registered of a name, as it is now, or as it was. The name need not be canonical.

The exit status is 1 if it is not registered, or was not at that time.`,
		Example: `  urnd registry get urn:nbn:fi:example-1
  urnd registry get urn:nbn:fi:example-1 --at 2031-05-01
  urnd registry get urn:nbn:fi:example-1 --json
  urnd registry get urn:nbn:fi: --prefix`,
		Args: cobra.ExactArgs(1),
	}
	f := addStore(cmd, w)
	prefix := addPrefix(cmd)
	cmd.Flags().StringVar(&at, "at", "", "as it was at this `time`: a date, which means its end (UTC), or a time of RFC 3339")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the document that the API of the registry has")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := f.open(cmd.Context())
		if err != nil {
			return err
		}
		defer s.close()
		key, err := s.key(args[0], *prefix)
		if err != nil {
			return err
		}
		var v service.Version
		if at != "" {
			if v.At, err = readTime(at, true); err != nil {
				return cli.Usage(err)
			}
		}
		e, err := s.Get(cmd.Context(), s.actor, key, v)
		if err != nil {
			return unknownHelp(key, err)
		}
		return printEntry(cmd.OutOrStdout(), e, asJSON)
	}
	return cmd
}
