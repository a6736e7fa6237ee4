// Command urnd resolves URNs and normalizes URIs, as a daemon and on the
// command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/urnd/urnd/internal/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(os.Stderr, "urnd:", redact.URLs(err.Error()))
	}
	if err != nil {
		os.Exit(statusOf(err))
	}
}

// statusError ends the program with a status other than 1.
type statusError struct {
	err    error
	status int
}

func (e *statusError) Error() string { return e.err.Error() }

// Unwrap returns the error.
func (e *statusError) Unwrap() error { return e.err }

// statusOf returns the exit status for an error.
func statusOf(err error) int {
	var other *statusError
	if errors.As(err, &other) {
		return other.status
	}
	return 1
}

// statusUsage is the exit status of commands that were used wrongly.
const statusUsage = 2

// usage returns an error that ends the program with statusUsage, nil for nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{err, statusUsage}
}

// withUsage makes faults of flags and arguments of a command, and of those below it, end the program with statusUsage.
func withUsage(cmd *cobra.Command) *cobra.Command {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, given []string) error { return usage(args(cmd, given)) }
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	for _, below := range cmd.Commands() {
		withUsage(below)
	}
	return cmd
}

// errReported ends the program with status 1 when all errors are printed already.
var errReported = errors.New("reported")

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "urnd",
		Short: "Resolver and caching proxy for URNs and URIs",
		Long: `urnd resolves URNs to locations by the DNS (DDDS) and by the rules of their
namespaces, normalizes URIs, and answers with redirects.`,
		Args:          cobra.ArbitraryArgs, // so that requireSubcommand sees them
		RunE:          requireSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newServe(), newAccess(), newCaches(), newRegistryCommand(), newResolve(), newURI(), newNamespaces(), newHelper(), newConfig(), newVersion(), newMan())
	return withUsage(root)
}

// requireSubcommand runs a group of commands without one of them: a mistyped name must not
// look like success.
func requireSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		cmd.SuggestionsMinimumDistance = 2
		message := fmt.Sprintf("unknown command %q of %q", args[0], cmd.CommandPath())
		if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
			message += "; did you mean " + strings.Join(similar, " or ") + "?"
		}
		return usage(errors.New(message))
	}
	return cmd.Help()
}

// withoutControls returns text without control characters, which origins may send and terminals obey.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
