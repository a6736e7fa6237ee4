package main

import (
	_ "embed"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// versionFile is the version of urnd. The file is the only place that decides it: the Makefile reads it, too, and what else says the
// version is written by "make generate".
//
//go:embed version.txt
var versionFile string

// commit is set by the linker, where it is known: -X main.commit=... It ends in -dirty where files differ from those of the commit.
var commit string

// versionText returns the version, such as "0.20.0".
func versionText() string { return strings.TrimSpace(versionFile) }

// buildText returns the version for people, with the commit where it is known.
func buildText() string {
	if commit == "" {
		return versionText()
	}
	return fmt.Sprintf("%s (%s)", versionText(), commit)
}

// programText returns what urnd --version and urnd version print: buildText, and what it was built by and for.
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
