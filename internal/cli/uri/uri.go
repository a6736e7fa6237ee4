// Package uri has the commands of urnd uri, which parse, normalize and compare URIs.
package uri

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Command returns the command. names returns the rules for names of a configuration.
func Command(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "uri",
		Short: "Parse, normalize and compare URIs",
		Long: `Parse, normalize and compare URIs. Every command but extract takes its input as
arguments, or, with "-", as lines of standard input: one line in, one line out.
For an invalid one "error: ..." is printed, and the exit status is 1.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newNormalize(), newKey(names), newParse(), newCompare(names), newJoin(), newExtract(), newEncode(), newDisplay())
	return cmd
}

// newLines gives cmd the flag --output, and returns what runs it on lines.
func newLines(cmd *cobra.Command, run func(input string) (cli.Result, error)) *cli.Lines {
	l := &cli.Lines{
		Output: cli.AddOutput(cmd, "one object for each input", cli.CSV, cli.JSON), What: "reading",
		Run: func(_ context.Context, input string) (cli.Result, error) { return run(input) },
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return l.RunAll(cmd, args) }
	return l
}

type outputJSON struct {
	Input  string `json:"input"`
	Output string `json:"output"`
}

func newNormalize() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "normalize URI...",
		Short: "Print the normal form of URIs",
		Long: "Print the normal form of URIs, by syntax and scheme (RFC 3986 section 6.2).\n" +
			"Components of URNs and fragments are not removed.",
		Example: `  urnd uri normalize HTTP://Example.COM:80/b/../%7Esmith
  urnd uri normalize - < uris.txt`,
	}, parseURI, func(u uri.URI) string { return u.Normalize().String() })
}

func newKey(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key URI...",
		Short: "Print the key under which URIs are cached",
		Long: `Print the canonical name of URIs, under which answers are cached. Equivalent URIs
have the same key: URNs by RFC 8141 section 3.1 and the rules of their namespace,
those of the configuration included.`,
		Example: `  urnd uri key URN:ISBN:0-395-36341-1 urn:isbn:0395363411
  urnd uri key --accept rfc2141 urn:example:a,b`,
		Args: cobra.MinimumNArgs(1),
	}
	s := cli.AddFile(cmd)
	cmd.Flags().StringSlice("accept", nil, "`specifications` of URNs; each part of a URN must satisfy one of them: "+
		"rfc2141, draft, rfc8141 (urn.accept)")
	cli.Complete(cmd, "accept", "rfc2141", "draft", "rfc8141")
	var rules resolver.Names
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		rules, err = s.Names(names)
		return err
	}
	newLines(cmd, func(input string) (cli.Result, error) {
		u, err := uri.Parse(input)
		if err != nil {
			return cli.Result{}, err
		}
		key, err := rules.Key(u)
		if err != nil {
			return cli.Result{}, err
		}
		return cli.Result{Text: key.String(), Document: outputJSON{input, key.String()}}, nil
	})
	return cmd
}
