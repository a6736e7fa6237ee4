// Command urnd resolves URNs and normalizes URIs, as a daemon and on the
// command line.
package main

import (
	"context"
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cmd, err := newRoot().ExecuteContextC(ctx)
	stop()
	if err != nil {
		os.Exit(cli.Report(os.Stderr, cmd, err))
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "urnd",
		Short: "Resolver and caching proxy for URNs and URIs",
		Long: `urnd resolves URNs to locations by the DNS (DDDS) and by the rules of their
namespaces, normalizes URIs, and answers with redirects.`,
		Version:       programText(),
		Args:          cobra.ArbitraryArgs, // so that cli.RequireSubcommand sees them
		RunE:          cli.RequireSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("urnd {{.Version}}\n")
	cli.AddGroup(root, "The daemon", serviceCommands()...)
	cli.AddGroup(root, "Names", cliregistry.Command(registryWiring()), resolve.Command(openResolution), names.Command(namesOf), cliuri.Command(namesOf))
	cli.AddGroup(root, "For other programs", helper.Command(namesOf, openResolution), man.Command(versionText()))
	cli.AddGroup(root, "This program", newVersion())
	root.SetHelpCommandGroupID("This program")
	root.SetCompletionCommandGroupID("This program")
	return cli.WithUsage(root)
}
