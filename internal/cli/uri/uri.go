// Package uri has the commands of urnd uri, which parse, normalize, compare, resolve and extract URIs. URIs,
// IRIs or text enter as arguments or lines, and one line of text, CSV or JSON leaves for each. They implement
// RFC 3986, RFC 3987 and RFC 8141.
package uri

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"

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
		Long: `Parse, normalize and compare URIs. Every command except extract reads its input from
arguments, or, with "-", from lines of standard input: one line in, one line out.
For invalid input it prints "error: ...", and the exit status is 1.`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newNormalize(), newKey(names), newParse(), newCompare(names), newJoin(), newExtract(), newEncode(),
		newDisplay())
	return cmd
}

// newLines adds --output to cmd, and makes cmd call run on each line.
func newLines(cmd *cobra.Command, run func(input string) (cli.Result, error)) *cli.LineRunner {
	l := &cli.LineRunner{
		Output: cli.AddOutput(cmd, "one object for each input", cli.CSV, cli.JSON), Activity: "reading",
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
		Long: "Print the normal form of URIs, by syntax and scheme (RFC 3986 section 6.2).\nComponents and fragments " +
			"of URNs are preserved.",
		Example: `  urnd uri normalize HTTP://Example.COM:80/b/../%7Esmith
  urnd uri normalize - < uris.txt`,
	}, parseURI, func(u uri.URI) string { return u.Normalize().String() })
}

func newKey(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key URI...",
		Short: "Print the cache keys of URIs",
		Long: `Print the canonical names of URIs, which are the cache keys of answers. Equivalent URIs
have the same key: URNs by RFC 8141 section 3.1 and the rules of their namespace,
including those of the configuration.`,
		Example: `  urnd uri key URN:ISBN:0-395-36341-1 urn:isbn:0395363411
  urnd uri key --accept rfc2141 urn:example:a,b`,
		Args: cobra.MinimumNArgs(1),
	}
	s := cli.AddFile(cmd)
	cmd.Flags().StringSlice("accept", nil,
		"accepted `specifications` of URNs: each part of a URN must conform to at least one of "+
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
		key, err := rules.CanonicalName(u)
		if err != nil {
			return cli.Result{}, err
		}
		return cli.Result{Text: key.String(), Document: outputJSON{input, key.String()}}, nil
	})
	return cmd
}

func newEncode() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "encode IRI...",
		Short: "Convert IRIs to URIs",
		Long: `Convert IRIs to URIs (RFC 3987 section 3.1), including URNs with characters that are
not allowed in them. DNS host names are mapped by IDNA; other characters are
percent-encoded. Ambiguous input is an error.`,
		Example: `  urnd uri encode http://bücher.example/straße 'urn:example:Müller 1'`,
	}, fromIRI, uri.URI.String)
}

func newDisplay() *cobra.Command {
	return mapping(&cobra.Command{
		Use:   "display URI...",
		Short: "Print URIs in readable form (RFC 3987)",
		Long: `Print URIs in readable form (RFC 3987 section 3.2). Percent-encodings are decoded
if "urnd uri encode" returns the same URI; delimiters, invisible
characters and hosts, which are open to confusion, are not decoded.`,
		Example: `  urnd uri display urn:example:M%C3%BCller%201`,
	}, parseURI, uri.URI.Display)
}

// fromIRI converts an IRI to a URI, and checks it by the rules of its scheme.
func fromIRI(input string) (uri.URI, error) {
	u, err := uri.FromIRI(input)
	if err != nil {
		return uri.URI{}, err
	}
	return u, u.Check()
}

// mapping returns a command that parses inputs with read and prints them with write.
func mapping(cmd *cobra.Command, read func(string) (uri.URI, error), write func(uri.URI) string) *cobra.Command {
	cmd.Args = cobra.MinimumNArgs(1)
	newLines(cmd, func(input string) (cli.Result, error) {
		u, err := read(input)
		if err != nil {
			return cli.Result{}, err
		}
		output := write(u)
		return cli.Result{Text: output, Document: outputJSON{input, output}}, nil
	})
	return cmd
}

// maxText bounds a text from which URIs are extracted, in bytes.
const maxText = 64 << 20

type extractJSON struct {
	File   string `json:"file"`
	Start  int    `json:"start"` // byte offset in the file
	End    int    `json:"end"`
	Output string `json:"output"`
	Hyphen bool   `json:"hyphen"` // a line break after a hyphen was removed
}

func newExtract() *cobra.Command {
	var options uri.ExtractOptions
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "Print the URIs in running text",
		Long: `Print the URIs in running text, one per line: those in angle brackets, in which white
space is ignored, and those without or between other delimiters
(draft-fielding-uri-syntax-02 appendix E). Without FILE, or with "-", it
reads standard input. Letters beyond ASCII are part of a URI, and are encoded.`,
		Example: `  urnd uri extract mail.txt
  urnd uri extract --output json - < mail.txt`,
	}
	output := cli.AddOutput(cmd, "one object for each URI, with positions", cli.CSV, cli.JSON)
	cmd.Flags().BoolVar(&options.Abbreviated, "abbreviated", false,
		"also find host names without scheme, such as www.example.org/a")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if len(files) == 0 {
			files = []string{cli.Stdin}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		table, err := output.Rows(out, "file", "start", "end", "output")
		if err != nil {
			return err
		}
		var failures []error
		for _, file := range files {
			text, err := cli.ReadAll(cmd, file, maxText)
			if err != nil {
				failures = append(failures, fmt.Errorf("extracting: %w", err))
				continue
			}
			for _, f := range uri.Extract(string(text), options) {
				u := f.URI.String()
				cells := []string{u}
				if output.Format == cli.CSV {
					cells = []string{file, strconv.Itoa(f.Start), strconv.Itoa(f.End), u}
				}
				if err := table.Row(extractJSON{file, f.Start, f.End, u, f.Hyphen}, cells...); err != nil {
					return err
				}
			}
		}
		return errors.Join(append(failures, out.Flush())...)
	}
	return cmd
}
