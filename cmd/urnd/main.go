// Command urnd resolves URNs and normalizes URIs, as a daemon and on the command line. Package main only
// wires the other packages: the flags, the configuration and inherited sockets enter; a running daemon, or
// the output and exit status of a command leaves. The RFCs are those of the wired packages, such as RFC 8141
// for URNs and RFC 9110 for HTTP.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	_ "time/tzdata" // for proxy.time_zone on machines without time zone data

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
		Args:          cobra.ArbitraryArgs, // so that cli.RequireSubcommand gets them
		RunE:          cli.RequireSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("urnd {{.Version}}\n")
	cli.AddGroup(root, "The daemon", serviceCommands()...)
	cli.AddGroup(root, "Names", cliregistry.Command(registryWiring()), resolve.Command(openResolution),
		names.Command(namesOf), cliuri.Command(namesOf))
	cli.AddGroup(root, "For other programs", helper.Command(namesOf, openResolution), man.Command(versionText()))
	cli.AddGroup(root, "This program", newVersion())
	root.SetHelpCommandGroupID("This program")
	root.SetCompletionCommandGroupID("This program")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, below := range root.Commands() {
		switch below.Name() {
		case "completion": // an unknown shell must be an error
			below.Args, below.RunE = cobra.ArbitraryArgs, cli.RequireSubcommand
		case "help":
			below.Run, below.RunE = nil, func(cmd *cobra.Command, args []string) error {
				err := cli.RequireSubcommand(cmd.Root(), append([]string{"help"}, args...))
				return cli.Hint(err, "urnd --help shows all commands")
			}
		}
	}
	return cli.WithUsage(root)
}

// versionFile is the version of urnd. The file is its only source: the Makefile reads it, and "make generate"
// writes all other copies.
//
//go:embed version.txt
var versionFile string

// commit is set by the linker, if known: -X main.commit=... It ends with -dirty if files differ from the
// commit.
var commit string

// versionText returns the version, such as "1.0.0".
func versionText() string { return strings.TrimSpace(versionFile) }

// buildText returns the version for display, with the commit if known.
func buildText() string {
	if commit == "" {
		return versionText()
	}
	return fmt.Sprintf("%s (%s)", versionText(), commit)
}

// programText returns the output of urnd --version and urnd version: buildText, the Go version and the
// platform.
func programText() string {
	return fmt.Sprintf("%s %s %s/%s", buildText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of urnd, as urnd --version does",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "urnd %s\n", cmd.Root().Version)
			return err
		},
	}
}
