// Command urnd resolves URNs and normalizes URIs, as a daemon and on the
// command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/helper"
	"github.com/urnd/urnd/internal/cli/man"
	"github.com/urnd/urnd/internal/cli/names"
	cliregistry "github.com/urnd/urnd/internal/cli/registry"
	"github.com/urnd/urnd/internal/cli/resolve"
	cliuri "github.com/urnd/urnd/internal/cli/uri"
	"github.com/urnd/urnd/internal/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, cli.ErrReported) {
		fmt.Fprintln(os.Stderr, "urnd:", redact.URLs(err.Error()))
	}
	if err != nil {
		os.Exit(cli.StatusOf(err))
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "urnd",
		Short: "Resolver and caching proxy for URNs and URIs",
		Long: `urnd resolves URNs to locations by the DNS (DDDS) and by the rules of their
namespaces, normalizes URIs, and answers with redirects.`,
		Args:          cobra.ArbitraryArgs, // so that cli.RequireSubcommand sees them
		RunE:          cli.RequireSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(serviceCommands()...)
	root.AddCommand(
		cliregistry.Command(registryWiring()), resolve.Command(openResolution), cliuri.Command(namesOf), names.Command(namesOf),
		helper.Command(namesOf, openResolution), newVersion(), man.Command(versionText()),
	)
	return cli.WithUsage(root)
}
