// Package clitest runs commands in tests, without the whole program. A command, its arguments and standard
// input enter; its output, error output and error leave. It implements no specification.
package clitest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

// Run runs a command below a root command, like the program. stderr includes the reported error.
func Run(t testing.TB, cmd *cobra.Command, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "urnd", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(cmd)
	cli.WithUsage(root)
	root.SetArgs(append([]string{cmd.Name()}, args...))
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	ran, err := root.ExecuteContextC(t.Context())
	cli.Report(&errs, ran, err)
	return out.String(), errs.String(), err
}

// NamesOf is a cli.NamesOf with the built-in namespaces.
func NamesOf(c config.Config) (resolver.Names, error) {
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		return resolver.Names{}, err
	}
	identifiers, err := urnns.NewIdentifiers(urnns.BuiltinIdentifiers()...)
	return resolver.Names{
		Set: set, Accept: c.URN.Specs(),
		Identifiers: identifiers,
	}.WithOwnedPrefixes(c.Registry.NamePrefixes()), err
}
