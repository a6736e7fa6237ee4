package config

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/squidconf"
)

func newImport() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Convert a Squid configuration",
		Long: `Print the equivalent urnd configuration of a squid.conf, with the line that each setting
comes from. Unsupported directives are listed in a table on standard error, and in comments at
the end; the configuration is valid without them, and its rules never allow more than http_access
did: a deny rule that has no exact equivalent denies more. The exit status is 0 if everything was
converted, and 1 otherwise. Passwords are not printed.`,
		Example: "  urnd config import /etc/squid/squid.conf > urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("finding %s: %w", args[0], err)
			}
			result, err := squidconf.Convert(squidconf.Files{
				Read: os.ReadFile, Glob: filepath.Glob,
				CheckFormat: checkFormat,
			}, path)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), result.YAML); err != nil {
				return err
			}
			if len(result.Unconverted) == 0 {
				return nil
			}
			table := tabwriter.NewWriter(cmd.ErrOrStderr(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "LINE\tDIRECTIVE\tWHY\tINSTEAD")
			for _, l := range result.Unconverted {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", squidconf.Plain(l.At.String()), squidconf.Plain(l.Directive),
					squidconf.Plain(l.Reason), squidconf.Plain(l.Alternative))
			}
			if err := table.Flush(); err != nil {
				return err
			}
			return cli.ErrReported
		},
	}
}

func checkFormat(format string) error {
	_, err := accesslog.ParseFormat(format)
	return err
}
