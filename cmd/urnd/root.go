package main

import (
	"errors"

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
	root.AddCommand(newServe(), newResolve(), newURI(), newConfig(), newVersion())
	return root
}
