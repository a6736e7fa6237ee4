package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// errReported ends the program with status 1 after all has been said.
var errReported = errors.New("reported")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "urnd",
		Short: "Resolver and caching proxy for URNs and URIs",
		Long: `urnd leads from names to places: it resolves URNs by the DNS (DDDS) and by the
rules of their namespaces, normalizes URIs, and answers with redirects.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newServe(), newResolve(), newURI(), newNamespaces(), newConfig(), newVersion(), newMan())
	return root
}

// needsCommand is what a group of commands does by itself: a name that is
// mistyped must not look like success.
func needsCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is no command of %q", args[0], cmd.CommandPath())
	}
	return cmd.Help()
}
