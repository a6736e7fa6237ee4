package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// errReported ends the program with status 1 when all errors are printed already.
var errReported = errors.New("reported")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "urnd",
		Short: "Resolver and caching proxy for URNs and URIs",
		Long: `urnd resolves URNs to locations by the DNS (DDDS) and by the rules of their
namespaces, normalizes URIs, and answers with redirects.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newServe(), newResolve(), newURI(), newNamespaces(), newConfig(), newVersion(), newMan())
	return root
}

// requireSubcommand runs a group of commands without one of them: a mistyped name must not
// look like success.
func requireSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown command %q of %q", args[0], cmd.CommandPath())
	}
	return cmd.Help()
}
